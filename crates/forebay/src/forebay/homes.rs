//! The homes of the primitives that need nothing of each other.

use std::sync::Arc;

use super::sweep_with;
use crate::{
    bus::Bus,
    context::{Context, Remote},
    filter, health, limiter, lock, once, topic, unique,
};

/// Where limiters, locks, claims, counters, filters and topics are built.
#[derive(Debug, Clone)]
pub(super) struct Homes {
    pub(super) limits: limiter::Home,
    pub(super) locks: lock::Home,
    pub(super) once: once::Home,
    pub(super) unique: unique::Home,
    pub(super) filters: filter::Home,
    pub(super) topics: topic::Home,
    pub(super) health: health::Home,
}

impl Homes {
    /// In this process alone.
    pub(super) fn memory(context: &Context) -> Self {
        let once = once::Home::memory(context.clone());
        Self {
            health: health::Home::new(context, once.clone(), None),
            limits: limiter::Home::memory(context.clone()),
            locks: lock::Home::memory(context.clone()),
            once,
            unique: unique::Home::memory(context.clone()),
            filters: filter::Home::memory(context.clone()),
            topics: topic::Home::memory(context.clone()),
        }
    }

    /// Removes what has ended, for as long as it is kept.
    pub(super) fn sweep(&self, context: &Context) {
        sweep_with(context, self.limits.counts(), limiter::Counts::sweep);
        if let Some(locks) = self.locks.here() {
            sweep_with(context, locks, lock::Locks::sweep);
        }
        if let Some(once) = self.once.here() {
            sweep_with(context, once, once::MemoryBackend::sweep);
        }
        if let Some(streams) = self.topics.here() {
            sweep_with(context, streams, topic::Streams::sweep);
        }
    }

    /// In Redis.
    pub(super) fn redis(
        context: &Context,
        remote: &Remote,
        bus: Bus,
        policies: Arc<limiter::Policies>,
    ) -> Self {
        let once = once::Home::redis(context.clone(), remote.clone());
        Self {
            health: health::Home::new(context, once.clone(), Some((remote.clone(), bus.clone()))),
            limits: limiter::Home::redis(context.clone(), policies, remote.clone(), bus),
            locks: lock::Home::redis(context.clone(), remote.clone()),
            once,
            unique: unique::Home::redis(context.clone(), remote.clone()),
            filters: filter::Home::redis(context.clone(), remote.clone()),
            topics: topic::Home::redis(context.clone(), remote.clone()),
        }
    }
}
