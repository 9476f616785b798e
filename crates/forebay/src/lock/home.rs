//! Where locks are built: what all of one `Forebay` share.

use std::{sync::Arc, time::Duration};

use super::{
    agenda::Agenda,
    backend::Backend,
    grip::Own,
    memory::{Locks, MemoryBackend},
    queue::Queues,
    redis::RedisBackend,
    tally::Tally,
};
use crate::{
    clock::Clock,
    context::{Context, Remote},
    dice::Dice,
    key::Keys,
    observe::Observe,
    tasks::Tasks,
    wake::Wake,
};

/// What all locks of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Home(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) clock: Clock,
    pub(super) dice: Dice,
    pub(super) tasks: Tasks,
    /// The tasks that free locks after the others have ended.
    pub(super) releases: Tasks,
    pub(super) observe: Arc<dyn Observe>,
    pub(super) wake: Wake,
    pub(super) queues: Queues,
    pub(super) agenda: Arc<Agenda>,
    pub(super) own: Own,
    pub(super) held: Tally,
    pub(super) waiting: Tally,
    /// The locks of the memory store.
    here: Option<Arc<Locks>>,
}

impl Home {
    /// In this process alone.
    pub(crate) fn memory(context: Context) -> Self {
        let locks = Arc::new(Locks::new(context.clock.clone()));
        let (keys, wake) = (Keys::new(context.app.clone()), context.wake.clone());
        let backend = Arc::new(MemoryBackend { keys, locks: locks.clone(), wake });
        Self::new(context, backend, Some(locks))
    }

    /// In Redis.
    pub(crate) fn redis(context: Context, remote: Remote) -> Self {
        let backend = Arc::new(RedisBackend::new(Keys::new(context.app.clone()), remote));
        Self::new(context, backend, None)
    }

    fn new(context: Context, backend: Arc<dyn Backend>, here: Option<Arc<Locks>>) -> Self {
        let Context { clock, dice, tasks, observe, wake, .. } = context;
        let releases = tasks.apart();
        let agenda = Agenda::new(clock.clone(), tasks.clone());
        let (queues, own) = (Queues::default(), Own::default());
        let (held, waiting) = (Tally::default(), Tally::default());
        let inner = Inner {
            backend,
            clock,
            dice,
            tasks,
            releases,
            observe,
            wake,
            queues,
            agenda,
            own,
            held,
            waiting,
            here,
        };
        Self(Arc::new(inner))
    }

    /// How many locks this process holds by a guard.
    pub(crate) fn held(&self) -> usize {
        self.0.held.now()
    }

    /// How many callers wait for a lock in this process.
    pub(crate) fn waiting(&self) -> usize {
        self.0.waiting.now()
    }

    /// The locks to sweep, where this process keeps them.
    pub(crate) fn here(&self) -> Option<&Arc<Locks>> {
        self.0.here.as_ref()
    }

    /// Waits at most `budget` until what was held when the tasks were ended is free.
    pub(crate) async fn shut_down(&self, budget: Duration) -> bool {
        self.0.releases.shut_down(&self.0.clock, budget).await
    }
}
