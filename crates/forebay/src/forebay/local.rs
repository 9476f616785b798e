//! The memory store, and what its primitives share.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::{Anchor, CLOSING, Spaces, confirm, homes::Homes, sweep, sweep_with};
use crate::{
    cache::{
        self, Bulkhead, Counts, Deferred, Epochs, Faults, Faulty, Leases, Memory, MemoryBackend, Numbers,
        Outage, Overtaken, Register, Shared, Site, Space, Store, Tags, Waits,
    },
    context::Context,
    error::Error,
    key::{Keys, Name},
};

/// Everything in this process.
pub(super) struct Local {
    pub(super) shared: Shared,
    pub(super) homes: Homes,
    leases: Arc<Leases>,
    tags: Arc<Tags>,
    pub(super) spaces: Spaces,
    outside: Option<Outside>,
}

/// What a store needs that can be out of reach.
struct Outside {
    faults: Faults,
    deferred: Arc<Deferred>,
    /// Those of this process alone.
    leases: Arc<Leases>,
    anchor: Arc<Anchor>,
}

impl Local {
    pub(super) fn open(
        context: Context,
        local_bytes: u64,
        outage_concurrency: usize,
        faults: Option<Faults>,
    ) -> Self {
        let outside = faults.map(|faults| Outside::open(faults, &context));
        let local = Self {
            outside,
            homes: Homes::memory(&context),
            leases: Arc::new(Leases::new(context.clock.clone())),
            tags: Arc::new(Tags::new(context.clock.clone())),
            spaces: Spaces::default(),
            shared: Shared {
                memory: Arc::new(Memory::new(local_bytes, Store::Inside)),
                epochs: Epochs::new(true),
                waits: Waits::of_process(),
                outage: Bulkhead::new(outage_concurrency),
                context,
            },
        };
        for leases in local.outside.iter().map(|outside| &outside.leases).chain([&local.leases]) {
            sweep(&local.shared.context, &local.shared.memory, leases);
        }
        sweep_with(&local.shared.context, &local.tags, Tags::sweep);
        local.homes.sweep(&local.shared.context);
        local
    }

    fn store(
        &self,
        name: &Name,
        space: Space,
        options: &cache::Options,
        leases: Arc<Leases>,
    ) -> MemoryBackend {
        let context = &self.shared.context;
        let keys = Keys::new(context.app.clone());
        let longest = options.longest();
        MemoryBackend {
            name: name.clone(),
            version: options.version,
            space,
            register: Register::new(name.clone(), keys.clone(), self.tags.clone(), longest),
            keys,
            memory: self.shared.memory.clone(),
            leases,
            clock: context.clock.clone(),
            wake: context.wake.clone(),
        }
    }

    pub(super) async fn shut_down(&self, budget: Duration) -> bool {
        let Context { tasks, clock, .. } = &self.shared.context;
        let ended = tasks.shut_down(clock, budget).await;
        self.homes.locks.shut_down(CLOSING).await & ended
    }
}

impl Outside {
    fn open(faults: Faults, context: &Context) -> Self {
        let deferred = Arc::new(Deferred::new(context.clock.clone()));
        confirm(deferred.clone(), context.tasks.clone());
        let leases = Arc::new(Leases::new(context.clock.clone()));
        Self { faults, deferred, leases, anchor: Arc::new(Anchor(context.tasks.clone())) }
    }
}

impl Site for Local {
    fn shared(&self) -> Shared {
        self.shared.clone()
    }

    fn claim(&self, name: &Name) -> Result<Arc<Counts>, Error> {
        self.spaces.claim(name)
    }

    fn most_bytes(&self) -> usize {
        usize::try_from(self.shared.memory.largest_value()).unwrap_or(usize::MAX)
    }

    fn backend(
        &self,
        name: &Name,
        space: Space,
        options: &cache::Options,
        numbers: &Arc<Numbers>,
    ) -> Arc<dyn cache::Backend> {
        let store = self.store(name, space, options, self.leases.clone());
        let Some(outside) = &self.outside else { return Arc::new(store) };
        let clock = store.clock.clone();
        Arc::new(Outage {
            locally: self.store(name, self.shared.memory.space(), options, outside.leases.clone()),
            remote: Arc::new(Faulty {
                store,
                numbers: numbers.clone(),
                faults: outside.faults.clone(),
                clock,
            }),
            deferred: outside.deferred.clone(),
            keeps: outside.anchor.clone(),
        })
    }

    /// Nobody else writes to it.
    fn track(&self) {}

    /// No other process has a part in this store.
    fn attend(&self, _: &Name, _: Weak<dyn Overtaken>) {}
}
