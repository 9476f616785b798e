//! The cache of this process, and each order as a call of it.

use std::{iter, time::Duration};

use anyhow::Result;
use futures::future::{join, join_all};
use hitbox::{
    CacheContext, CacheKey, CacheState, CacheValue, EntityPolicyConfig, Extractor,
    backend::{BackendError, CacheBackend},
    concurrency::BroadcastConcurrencyManager,
    policy::{ConcurrencyLimit, PolicyConfig},
};
use hitbox_fn::{Arg, Args, Cache, FnExtractor, cached};

use crate::{
    order::{Answer, Call, Moment, Order, Origin, Outcome, Report, Setup},
    source::{LoadFailed, Source, Thing},
};

/// How long a load of several ids sleeps.
const TOGETHER: Origin = Origin::Row { ms: 30 };

/// What stands before the id in a key, as it is named to the macro, too.
const THINGS: &str = "things";

#[cached(prefix = "things", skip(source, origin))]
async fn thing(id: String, source: Source, origin: Origin) -> Result<Thing, LoadFailed> {
    source.load(&id, origin).await
}

pub(crate) struct Desk<B> {
    cache: Cache<B, BroadcastConcurrencyManager<Result<Thing, LoadFailed>>>,
    life: Duration,
    source: Source,
}

impl<B: CacheBackend + Send + Sync + 'static> Desk<B> {
    pub(crate) fn new(backend: B, setup: &Setup) -> Self {
        let life = Duration::from_millis(setup.fresh_ms);
        // One load of an id at a time, and nothing stale.
        let policy = PolicyConfig::builder().ttl(life).concurrency(ConcurrencyLimit::MIN).build();
        let concurrency = BroadcastConcurrencyManager::new();
        let cache = Cache::builder().backend(backend).policy(policy).concurrency_manager(concurrency).build();
        Self { cache, life, source: Source::at(setup.rows) }
    }

    pub(crate) async fn obey(&self, order: Order) -> Answer {
        match order {
            Order::Load { id, callers, origin } => Answer::Done(self.load(&id, callers, origin).await),
            Order::LoadMany(ids) => {
                Answer::Done(join_all(ids.iter().map(|id| call(self.get_or_load(id, TOGETHER)))).await)
            }
            Order::Read(id) => one(self.read(&id)).await,
            Order::Put(id, version) => one(self.put(&id, version)).await,
            // A key is deleted or stays: nothing is made stale, and no tag is known.
            Order::Invalidate(id) | Order::Expire(id) => one(self.forget(&[id])).await,
            Order::InvalidateTag(_, ids) | Order::Clear(ids) => one(self.forget(&ids)).await,
            Order::InvalidateAmidLoads { id, callers, origin } => {
                let changed = [id.clone()];
                let change = call(self.forget(&changed));
                let (change, loads) = join(change, self.load(&id, callers, origin)).await;
                Answer::Done(iter::once(change).chain(loads).collect())
            }
            Order::Raise(id) => Answer::Raised(self.source.raise(&id).await),
            Order::Loads => Answer::Loads(self.source.tell()),
            Order::Report => Answer::Report(Report::now()),
        }
    }

    async fn load(&self, id: &str, callers: usize, origin: Origin) -> Vec<Call> {
        join_all((0..callers).map(|_| call(self.get_or_load(id, origin)))).await
    }

    async fn get_or_load(&self, id: &str, origin: Origin) -> Outcome {
        match thing(id.to_owned(), self.source.clone(), origin).cache(&self.cache).await {
            Ok(thing) => found(&thing),
            Err(LoadFailed) => Outcome::Failed,
        }
    }

    async fn read(&self, id: &str) -> Outcome {
        let mut context = CacheContext::default().boxed();
        match self.cache.backend().get::<Thing>(&key(id).await, &mut context).await {
            Ok(value) => match value.map(CacheValue::cache_state) {
                Some(CacheState::Actual(value) | CacheState::Stale(value)) => found(value.data()),
                Some(CacheState::Expired(_)) | None => Outcome::Nothing,
            },
            Err(error) => broken(&error),
        }
    }

    async fn put(&self, id: &str, version: u64) -> Outcome {
        let mut context = CacheContext::default().boxed();
        let life = EntityPolicyConfig { ttl: Some(self.life), stale_ttl: None };
        let value = CacheValue::from_config(Thing::of(version), &life);
        done(self.cache.backend().set::<Thing>(&key(id).await, &value, &mut context).await)
    }

    /// Of two levels, that one could be told is enough for hitbox to say so.
    async fn forget(&self, ids: &[String]) -> Outcome {
        let delete = async |id: &String| {
            let mut context = CacheContext::default().boxed();
            self.cache.backend().delete(&key(id).await, &mut context).await
        };
        let deleted: Result<Vec<_>, _> = join_all(ids.iter().map(delete)).await.into_iter().collect();
        done(deleted.map(drop))
    }
}

/// The key that the macro makes of an id.
async fn key(id: &str) -> CacheKey {
    let arguments = Args::new((Arg::new("id", id.to_owned()),));
    let (_, key) = FnExtractor::new(THINGS).get(arguments).await.into_cache_key();
    key
}

async fn one(answer: impl Future<Output = Outcome>) -> Answer {
    Answer::Done(vec![call(answer).await])
}

async fn call(answer: impl Future<Output = Outcome>) -> Call {
    let began = Moment::now();
    let outcome = answer.await;
    Call { began, ended: Moment::now(), outcome }
}

fn found(thing: &Thing) -> Outcome {
    Outcome::Value { version: thing.version, pid: thing.pid }
}

fn done(change: Result<(), BackendError>) -> Outcome {
    change.map_or_else(|error| broken(&error), |()| Outcome::Everywhere)
}

fn broken(error: &BackendError) -> Outcome {
    Outcome::Error(error.to_string())
}
