//! The memory store, and what its primitives share.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::{Spaces, sweep};
use crate::{
    cache::{
        self, Bulkhead, Epoch, Leases, Memory, MemoryBackend, Overtaken, Shared, Site, Space, Store, Waits,
    },
    context::Context,
    error::Error,
    key::{Keys, Name},
};

/// Everything in this process.
pub(super) struct Local {
    pub(super) shared: Shared,
    leases: Arc<Leases>,
    spaces: Spaces,
}

impl Local {
    pub(super) fn open(context: Context, local_bytes: u64, outage_concurrency: usize) -> Self {
        let local = Self {
            leases: Arc::new(Leases::new(context.clock.clone())),
            spaces: Spaces::default(),
            shared: Shared {
                memory: Arc::new(Memory::new(local_bytes, Store::Inside)),
                epoch: Arc::new(Epoch::default()),
                waits: Waits::of_process(),
                outage: Bulkhead::new(outage_concurrency),
                context,
            },
        };
        sweep(&local.shared.context, &local.shared.memory, &local.leases);
        local
    }

    pub(super) async fn shut_down(&self, budget: Duration) -> bool {
        let Context { tasks, clock, .. } = &self.shared.context;
        tasks.shut_down(clock, budget).await
    }
}

impl Site for Local {
    fn shared(&self) -> Shared {
        self.shared.clone()
    }

    fn claim(&self, name: &Name) -> Result<(), Error> {
        self.spaces.claim(name)
    }

    fn most_bytes(&self) -> usize {
        usize::try_from(self.shared.memory.largest_value()).unwrap_or(usize::MAX)
    }

    fn backend(&self, name: &Name, space: Space, options: &cache::Options) -> Arc<dyn cache::Backend> {
        let context = &self.shared.context;
        Arc::new(MemoryBackend {
            name: name.clone(),
            version: options.version,
            space,
            keys: Keys::new(context.app.clone()),
            memory: self.shared.memory.clone(),
            leases: self.leases.clone(),
            clock: context.clock.clone(),
            wake: context.wake.clone(),
        })
    }

    /// No other process has a part in this store.
    fn attend(&self, _: &Name, _: Weak<dyn Overtaken>) {}
}
