//! The cache of this process, and each order as a call of it.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use forebay::{
    Forebay,
    cache::{Cache, Invalidated, LoadError, Put},
    status::{RedisStatus, Status},
};
use forebay_trials::{
    ledger::Ledger,
    moment::Moment,
    order::{Answer, Call, Order, Origin, Outcome, Report, Setup},
};
use tokio::task::JoinSet;

use crate::{
    holder,
    origin::{Failed, Source, Value, value},
};

const HOUR_MS: u64 = 3_600_000;
const CLOSING: Duration = Duration::from_secs(2);

/// How long Redis may take to be in use.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(crate) struct Desk {
    forebay: Forebay,
    cache: Cache<Value>,
    source: Source,
    ledger: Option<Ledger>,
}

impl Desk {
    pub(crate) async fn open(setup: Setup) -> Result<Self> {
        let ms = Duration::from_millis;
        let mut builder = Forebay::builder("trial").redis(setup.redis);
        if let Some(budget) = setup.budget_ms {
            builder = builder.redis_budget(ms(budget));
        }
        let forebay = builder.build().await?;
        let mut cache = forebay
            .cache::<Value>("things", ms(setup.fresh_ms.unwrap_or(HOUR_MS)))
            .stale_for(ms(setup.stale_ms))
            // The bytes of a trial would shrink to nothing.
            .compress_above(usize::MAX);
        if let Some(lease) = setup.lease_ms {
            cache = cache.lease(ms(lease));
        }
        if let Some(life) = setup.local_ms {
            cache = cache.local_time_to_live(ms(life));
        }
        if let Some(bytes) = setup.max_bytes {
            cache = cache.max_bytes(bytes);
        }
        let source = Source::open(setup.database.as_deref()).await?;
        let ledger = match &setup.ledger {
            Some(path) => Some(Ledger::open(path).await?),
            None => None,
        };
        Ok(Self { cache: cache.build()?, forebay, source, ledger })
    }

    /// Reports once Redis is in use and the others are heard.
    ///
    /// # Errors
    ///
    /// If that takes too long.
    pub(crate) async fn once_ready(&self) -> Result<Answer> {
        let ready = async {
            while !(self.status().usable && self.status().hears) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, ready).await;
        waited.with_context(|| format!("not ready within {PATIENCE:?}: {:?}", self.status()))?;
        Ok(Answer::Report(Box::new(self.report())))
    }

    pub(crate) async fn obey(&self, order: Order) -> Answer {
        match order {
            Order::Load { id, callers, origin } => Answer::Done(self.load(&id, callers, origin).await),
            Order::Read(id) => {
                one(async { self.cache.get(&id).await.map_or(Outcome::Nothing, |value| found(&value)) }).await
            }
            Order::Put(id, version) => {
                one(async {
                    match self.cache.put(&id, value(version, 0)).await {
                        Ok(Put::Stored) => Outcome::Everywhere,
                        Ok(Put::Deferred) => Outcome::Deferred,
                        Err(error) => Outcome::Error(error.to_string()),
                    }
                })
                .await
            }
            Order::Invalidate(id) => one(async { changed(self.cache.invalidate(&id).await) }).await,
            Order::Expire(id) => one(async { changed(self.cache.expire(&id).await) }).await,
            Order::Raise(id) => Answer::Raised(self.source.raise(&id).await),
            Order::Loads => Answer::Loads(self.source.tell()),
            Order::Hold(hold) => {
                let ledger = self.ledger.clone().expect("the setup names a ledger");
                Answer::Held(holder::hold(&self.forebay, ledger, hold).await)
            }
            Order::Laps(laps) => Answer::Lapped(holder::laps(&self.forebay, laps).await),
            Order::Report => Answer::Report(Box::new(self.report())),
        }
    }

    pub(crate) async fn close(&self) {
        self.forebay.shutdown(CLOSING).await;
    }

    async fn load(&self, id: &str, callers: usize, origin: Origin) -> Vec<Call> {
        let mut all = JoinSet::new();
        for _ in 0..callers {
            let (cache, source, id) = (self.cache.clone(), self.source.clone(), Arc::<str>::from(id));
            all.spawn(call(async move {
                let loader = async move |load: forebay::cache::Load<Value>| {
                    source.load(load.id().to_owned(), origin).await
                };
                match cache.get_or_load(&id, loader).await {
                    Ok(value) => found(&value),
                    Err(error) => failed(&error),
                }
            }));
        }
        all.join_all().await
    }

    fn report(&self) -> Report {
        let status = self.status();
        Report {
            usable: status.usable,
            hears: status.hears,
            bound_ms: status
                .staleness_bound
                .as_millis()
                .try_into()
                .expect("the bound is no age of the world"),
            gaps: status.gaps,
            deferred: status.deferred,
            refused_fills: self.cache.stats().refused_fills,
            tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
        }
    }

    fn status(&self) -> RedisStatus {
        match self.forebay.status() {
            Status::Redis(status) => status,
            other => panic!("a worker shares its cache: {other:?}"),
        }
    }
}

async fn one(answer: impl Future<Output = Outcome>) -> Answer {
    Answer::Done(vec![call(answer).await])
}

async fn call(answer: impl Future<Output = Outcome>) -> Call {
    let began = Moment::now();
    let outcome = answer.await;
    Call { began, ended: Moment::now(), outcome }
}

fn found(value: &Value) -> Outcome {
    Outcome::Value { version: value.version, pid: value.pid }
}

fn changed(done: Invalidated) -> Outcome {
    match done {
        Invalidated::Everywhere => Outcome::Everywhere,
        Invalidated::Deferred => Outcome::Deferred,
    }
}

fn failed(error: &LoadError<Failed>) -> Outcome {
    match error {
        LoadError::Failed(_) => Outcome::Failed,
        LoadError::FailedElsewhere { .. } => Outcome::FailedElsewhere,
        other => Outcome::Error(format!("{other:?}")),
    }
}
