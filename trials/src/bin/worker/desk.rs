//! The cache of this process, and each order as a call of it.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use forebay::{
    Forebay,
    cache::{Batching, Load, Refresh},
    status::{RedisStatus, Status},
};
use forebay_trials::{
    ledger::Ledger,
    moment::Moment,
    order::{Answer, Call, Order, Origin, Outcome, Refreshing, Report, Setup, Subject},
};
use futures::future::join_all;
use tokio::task::JoinSet;

use crate::{
    holder,
    moka::Moka,
    naive::Naive,
    origin::{Failed, Source, Value},
    shop::{Shop, TOGETHER, Tags},
};

const HOUR_MS: u64 = 3_600_000;

/// How old a value of process memory may be, as is promised.
const BOUND: Duration = Duration::from_millis(1_500);
const CLOSING: Duration = Duration::from_secs(2);

/// How long Redis may take to be in use.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(crate) struct Desk {
    forebay: Forebay,
    shop: Shop,
    source: Source,
    ledger: Option<Ledger>,
}

impl Desk {
    pub(crate) async fn open(setup: Setup) -> Result<Self> {
        let source = Source::open(setup.database.as_deref()).await?;
        let ledger = match &setup.ledger {
            Some(path) => Some(Ledger::open(path).await?),
            None => None,
        };
        let (forebay, shop) = match setup.subject {
            Subject::Forebay => {
                let forebay = forebay(&setup).await?;
                let cache = cache(&forebay, &setup, source.clone())?;
                (forebay, Shop::Forebay(cache, Tags(setup.tags)))
            }
            Subject::Naive => (unshared().await?, Shop::Naive(Naive::open(&setup)?)),
            Subject::Moka => (unshared().await?, Shop::Moka(Moka::open(&setup)?)),
            other => bail!("{other:?} is a program of its own"),
        };
        Ok(Self { forebay, shop, source, ledger })
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
            Order::Steadily { id, callers, every_ms, origin } => {
                Answer::Done(self.steadily(&id, callers, Duration::from_millis(every_ms), origin).await)
            }
            Order::LoadMany(ids) => {
                let began = Moment::now();
                let outcomes = self.shop.load_many(&ids, self.source.clone()).await;
                let ended = Moment::now();
                let call = |outcome| Call { began, ended, outcome };
                Answer::Done(outcomes.into_iter().map(call).collect())
            }
            Order::Read(id) => one(self.shop.read(&id)).await,
            Order::Put(id, version) => one(self.shop.put(&id, version)).await,
            Order::Invalidate(id) => one(self.shop.invalidate(&id)).await,
            Order::InvalidateAmidLoads { id, callers, origin } => {
                let (shop, changed) = (self.shop.clone(), id.clone());
                let change = tokio::spawn(call(async move { shop.invalidate(&changed).await }));
                let loads = self.load(&id, callers, origin).await;
                let change = change.await.expect("a change does not panic");
                Answer::Done([vec![change], loads].concat())
            }
            Order::Expire(id) => one(self.shop.expire(&id)).await,
            Order::InvalidateTag(tag, ids) => one(self.shop.invalidate_tag(&tag, &ids)).await,
            Order::Clear(ids) => one(self.shop.clear(&ids)).await,
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

    /// # Errors
    ///
    /// If something did not end in time.
    pub(crate) async fn close(&self) -> Result<()> {
        let closed = self.forebay.shutdown(CLOSING).await;
        closed.then_some(()).with_context(|| format!("the shutdown took more than {CLOSING:?}"))
    }

    async fn load(&self, id: &str, callers: usize, origin: Origin) -> Vec<Call> {
        let mut all = JoinSet::new();
        for _ in 0..callers {
            all.spawn(self.caller(id, origin));
        }
        all.join_all().await
    }

    async fn steadily(&self, id: &str, callers: u32, every: Duration, origin: Origin) -> Vec<Call> {
        let (mut all, mut next) = (JoinSet::new(), tokio::time::interval(every));
        for _ in 0..callers {
            next.tick().await;
            all.spawn(self.caller(id, origin));
        }
        all.join_all().await
    }

    fn caller(&self, id: &str, origin: Origin) -> impl Future<Output = Call> + Send + use<> {
        let (shop, source, id) = (self.shop.clone(), self.source.clone(), Arc::<str>::from(id));
        call(async move { shop.load(&id, source, origin).await })
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
            refused_fills: self.shop.refused_fills(),
            tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
        }
    }

    fn status(&self) -> RedisStatus {
        match self.forebay.status() {
            Status::Redis(status) => status,
            // Where nothing of Forebay's is shared, nothing is to be waited for, and it has to keep to the same bound.
            _ => {
                let mut status = RedisStatus::default();
                (status.usable, status.hears) = (true, true);
                status.staleness_bound = BOUND;
                status
            }
        }
    }
}

/// For the subjects that have no use for it.
async fn unshared() -> Result<Forebay> {
    Ok(Forebay::builder("trial").memory().build().await?)
}

async fn forebay(setup: &Setup) -> Result<Forebay> {
    let mut builder = Forebay::builder("trial").redis(&setup.redis);
    if let Some(budget) = setup.budget_ms {
        builder = builder.redis_budget(Duration::from_millis(budget));
    }
    Ok(builder.build().await?)
}

fn cache(forebay: &Forebay, setup: &Setup, source: Source) -> Result<Batching<Value, Failed>> {
    let ms = Duration::from_millis;
    let mut cache = forebay
        .cache::<Value>("things", ms(setup.fresh_ms.unwrap_or(HOUR_MS)))
        .stale_for(ms(setup.stale_ms))
        // The bytes of a trial would shrink to nothing.
        .compress_above(usize::MAX);
    if let Some(lease) = setup.lease_ms {
        cache = cache.lease(ms(lease));
    }
    if let Some(span) = setup.load_timeout_ms {
        cache = cache.load_timeout(ms(span));
    }
    if let Some(span) = setup.wait_ms {
        cache = cache.wait(ms(span));
    }
    if let Some(life) = setup.local_ms {
        cache = cache.local_time_to_live(ms(life));
    }
    if let Some(refreshing) = setup.refresh {
        cache = cache.refresh(refresh(refreshing));
    }
    if let Some(bytes) = setup.max_bytes {
        cache = cache.max_bytes(bytes);
    }
    let state = (source, Tags(setup.tags));
    let together = async |(source, tags): (Source, Tags), loads: Vec<Load<Value>>| {
        let one = async |load: &Load<Value>| {
            let loaded = source.clone().load(load.id().to_owned(), TOGETHER).await;
            (load.id().to_owned(), loaded.map(|value| tags.put_on(load.id(), value)))
        };
        Ok::<_, Failed>(join_all(loads.iter().map(one)).await)
    };
    Ok(cache.batch_loader(state, together).build()?)
}

async fn one(answer: impl Future<Output = Outcome>) -> Answer {
    Answer::Done(vec![call(answer).await])
}

async fn call(answer: impl Future<Output = Outcome>) -> Call {
    let began = Moment::now();
    let outcome = answer.await;
    Call { began, ended: Moment::now(), outcome }
}

fn refresh(refreshing: Refreshing) -> Refresh {
    match refreshing {
        Refreshing::Stale => Refresh::Stale,
        Refreshing::Early(beta) => Refresh::Early { beta },
        Refreshing::Ahead(share) => Refresh::Ahead(share),
    }
}
