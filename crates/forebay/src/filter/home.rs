//! Where filters are built: what all of one `Forebay` share.

use std::{sync::Arc, time::Duration};

use super::{
    backend::Backend,
    memory::{Filters, MemoryBackend},
    rebuild::LEASE,
    redis::RedisBackend,
};
use crate::{
    context::{Context, Remote},
    key::{Keys, Name},
};

/// What all filters of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(super) context: Context,
    filters: Arc<Filters>,
    remote: Option<Remote>,
}

impl Home {
    /// In this process alone.
    pub(crate) fn memory(context: Context) -> Self {
        Self { context, filters: Arc::default(), remote: None }
    }

    /// In Redis.
    pub(crate) fn redis(context: Context, remote: Remote) -> Self {
        Self { remote: Some(remote), ..Self::memory(context) }
    }

    pub(super) fn backend(&self, name: &Name, keep: Duration) -> Arc<dyn Backend> {
        match self.remote.clone() {
            None => Arc::new(MemoryBackend { state: self.filters.filter(name), lease: LEASE }),
            Some(remote) => {
                let clock = self.context.clock.clone();
                let keys = Keys::new(self.context.app.clone());
                Arc::new(RedisBackend::new(name.clone(), keys, remote, clock, keep, LEASE))
            }
        }
    }
}
