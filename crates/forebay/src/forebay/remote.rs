//! The store that processes share: Redis, and what stands in for it while it cannot be asked.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use super::{Anchor, CLOSING, Spaces, confirm, homes::Homes, sweep};
use crate::{
    bus::Bus,
    cache::{
        self, Bulkhead, Counts, Deferred, Epochs, Hearing, Leases, Memory, MemoryBackend, Numbers, Outage,
        Overtaken, RedisBackend, Register, Shared, Site, Space, Store, Tags, Waits,
    },
    clock::Clock,
    context::{self, Context},
    error::Error,
    key::{Keys, Name},
    limiter::Policies,
    redis::{Address, Hooks, Redis, Signal},
    status::RedisStatus,
    tasks::Tasks,
    wake::Wake,
};

/// Everything in Redis, with a level of it in this process.
pub(super) struct Remote {
    pub(super) shared: Shared,
    pub(super) homes: Homes,
    pub(super) spaces: Spaces,
    leases: Arc<Leases>,
    hearing: Arc<Hearing>,
    deferred: Arc<Deferred>,
    redis: Redis,
    bus: Bus,
    anchor: Arc<Anchor>,
}

/// How Redis is to be used.
pub(super) struct Settings {
    pub(super) address: Address,
    pub(super) budget: Duration,
    /// The network and the server live in this time, whatever clock the caches count by.
    pub(super) clock: Clock,
    /// The tasks that outlive those of the primitives.
    pub(super) tasks: Tasks,
}

impl Remote {
    pub(super) fn open(
        context: Context,
        settings: Settings,
        local_bytes: u64,
        outage_concurrency: usize,
    ) -> Self {
        let Settings { address, budget, clock, tasks } = settings;
        let keys = Keys::new(context.app.clone());
        let (epochs, leases) = (Epochs::new(false), Arc::new(Leases::new(context.clock.clone())));
        let memory = Arc::new(Memory::new(local_bytes, Store::Outside));
        let deferred = Arc::new(Deferred::new(clock.clone()));
        let policies = Arc::<Policies>::default();
        let hooks = Told {
            deferred: Arc::downgrade(&deferred),
            epochs: epochs.clone(),
            wake: context.wake.clone(),
            policies: policies.clone(),
        };
        let (dice, observe) = (context.dice.clone(), context.observe.clone());
        let redis = Redis::open(address, (budget, clock), dice, tasks.clone(), Arc::new(hooks), observe);
        let hearing = Arc::new(Hearing::new(epochs.clone(), leases.clone(), memory.clone(), keys.clone()));
        let (heard, freed) = (hearing.clone(), policies.clone());
        let bus = Bus::open(&redis, keys.invalidate_channel(), &context.dice, &tasks, move |message| {
            heard.hear(message);
            freed.hear(message);
        });
        let told = hearing.clone();
        redis.hear_writes(keys.values(), move |written| told.hear_write(written));
        listen_for_wakes(&redis, keys.wake_channel(), context.wake.clone());
        redis.subscribe();
        confirm(deferred.clone(), tasks.clone());
        sweep(&context, &memory, &leases);
        let anchor = Arc::new(Anchor(tasks));
        let remote = context::Remote { redis: redis.clone(), keeps: anchor.clone() };
        let homes = Homes::redis(&context, &remote, bus.clone(), policies);
        homes.sweep(&context);
        Self {
            homes,
            spaces: Spaces::default(),
            shared: Shared {
                memory,
                epochs,
                waits: Waits::of_process(),
                outage: Bulkhead::new(outage_concurrency),
                context,
            },
            leases,
            hearing,
            deferred,
            redis,
            bus,
            anchor,
        }
    }

    pub(super) fn status(&self) -> RedisStatus {
        let (reason, figures) = (self.redis.trouble(), self.bus.figures());
        let (deferred, deferred_for) = self.deferred.backlog();
        let nodes = self.redis.nodes();
        RedisStatus {
            usable: reason.is_none(),
            reason: reason.or_else(|| self.redis.refusal()),
            nodes: nodes.len(),
            nodes_down: nodes.iter().filter(|node| node.trouble().is_some()).count(),
            round_trips: self.redis.trips(),
            in_flight: self.redis.in_flight(),
            hears: figures.hears,
            staleness_bound: figures.staleness_bound,
            others: figures.others,
            gaps: figures.gaps,
            messages: figures.messages,
            lag: figures.lag,
            tracks: self.redis.tracks(),
            deferred,
            deferred_for,
        }
    }

    /// Ends the work first, so that leases are given back, then what others wait for, then the connections.
    pub(super) async fn shut_down(&self, budget: Duration) -> bool {
        let clock = self.redis.clock();
        let until = clock.now().after(budget);
        let Context { tasks, clock: own, .. } = &self.shared.context;
        let ended = tasks.shut_down(own, budget).await;
        let left = until.since(clock.now()).max(CLOSING);
        let counted = self.homes.unique.close(clock, left).await;
        let drained = clock.timeout(until.since(clock.now()), self.deferred.drain()).await.is_some();
        if !drained {
            let (changes, _) = self.deferred.backlog();
            tracing::warn!(
                changes,
                "Redis has not confirmed them: others may serve the old values until these end"
            );
        }
        let freed = self.homes.locks.shut_down(CLOSING).await;
        clock.timeout(CLOSING, self.bus.leave()).await;
        ended & counted & drained & freed & self.redis.close(CLOSING).await
    }
}

impl Site for Remote {
    fn shared(&self) -> Shared {
        self.shared.clone()
    }

    fn claim(&self, name: &Name) -> Result<Arc<Counts>, Error> {
        self.spaces.claim(name)
    }

    /// What Redis holds is for its own settings to say.
    fn most_bytes(&self) -> usize {
        usize::MAX
    }

    fn backend(
        &self,
        name: &Name,
        space: Space,
        options: &cache::Options,
        numbers: &Arc<Numbers>,
    ) -> Arc<dyn cache::Backend> {
        let context = &self.shared.context;
        let (version, keys) = (options.version, Keys::new(context.app.clone()));
        let (redis, bus) = (self.redis.clone(), self.bus.clone());
        let place = (name.clone(), space);
        let tags = Arc::new(Tags::new(context.clock.clone()));
        let outage = Arc::new(Outage {
            remote: Arc::new(RedisBackend::new(place, options, numbers.clone(), keys.clone(), redis, bus)),
            deferred: self.deferred.clone(),
            locally: MemoryBackend {
                name: name.clone(),
                version,
                space,
                // What is filled here is judged by the numbers of the space in Redis.
                register: Register::new(name.clone(), keys.clone(), tags, options.longest()),
                keys,
                memory: self.shared.memory.clone(),
                leases: self.leases.clone(),
                clock: context.clock.clone(),
                wake: context.wake.clone(),
            },
            keeps: self.anchor.clone(),
        });
        let hears: Weak<dyn Overtaken> = Arc::<Outage>::downgrade(&outage);
        self.hearing.add(name, hears);
        outage
    }

    fn track(&self) {
        self.redis.track();
    }

    fn attend(&self, name: &Name, cache: Weak<dyn Overtaken>) {
        self.hearing.add(name, cache);
    }
}

/// Who hears how Redis is.
struct Told {
    deferred: Weak<Deferred>,
    epochs: Arc<Epochs>,
    wake: Wake,
    policies: Arc<Policies>,
}

impl Hooks for Told {
    fn server_changed(&self) {
        if let Some(deferred) = self.deferred.upgrade() {
            deferred.replay();
        }
        self.epochs.missed();
    }

    /// Nobody is to wait for a wake that may never come, nor to be refused where its policy says otherwise.
    fn unusable(&self) {
        self.wake.wake_all();
        self.policies.forget();
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Told").finish_non_exhaustive()
    }
}

fn listen_for_wakes(redis: &Redis, channel: String, wake: Wake) {
    wake.set_hearing(false);
    redis.listen(channel, move |signal| match signal {
        Signal::Confirmed => wake.set_hearing(true),
        Signal::Message(name) => {
            if let Ok(name) = str::from_utf8(name) {
                wake.wake(name);
            }
        }
        Signal::Lost => {
            wake.set_hearing(false);
            wake.wake_all();
        }
    });
}
