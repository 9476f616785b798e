//! The store that processes share: one script per operation, so that each is atomic as a whole.

mod find;
mod inspect;
mod numbers;
mod scripts;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;

use self::scripts::{EXPIRE, FILL, INVALIDATE, LEASE, NOTE, RELEASE, RENEW};
use super::{
    backend::{
        Answer, Backend, Budget, Change, Finder, Leased, Note, Question, Reject, Request, Seen, Settle,
        Stored, Unavailable,
    },
    deferred::Distant,
    numbers::{Group, Known, Numbers},
    options::Options,
    slots::Space,
    token::Token,
};
use crate::{
    bus::{Bus, Kind},
    key::{Keys, Name, generations},
    redis::{LEAST, Redis, Reply, Request as Command, Road, Script, Takeback, Unusable},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What is larger takes a connection of its own.
const LARGE: usize = 64 << 10;

/// One space in Redis.
#[derive(Debug)]
pub(crate) struct RedisBackend {
    name: Name,
    version: u32,
    /// The longest life of entries that say nothing else.
    longest: Duration,
    space: Space,
    numbers: Arc<Numbers>,
    keys: Keys,
    redis: Redis,
    bus: Bus,
    invalidations: String,
    wakes: String,
    /// The mean size of what is read and filled, smoothed: whether the next read is likely to be large.
    mean: AtomicUsize,
}

impl RedisBackend {
    pub(crate) fn new(
        (name, space): (Name, Space),
        options: &Options,
        numbers: Arc<Numbers>,
        keys: Keys,
        redis: Redis,
        bus: Bus,
    ) -> Self {
        let (invalidations, wakes) = (keys.invalidate_channel(), keys.wake_channel());
        let (version, longest, mean) = (options.version, options.longest(), AtomicUsize::new(0));
        Self { name, version, longest, space, numbers, keys, redis, bus, invalidations, wakes, mean }
    }

    async fn read(&self, id: &str, budget: &mut Budget) -> Result<Option<Stored>, Unavailable> {
        let road = self.road();
        let key = self.keys.value(&self.name, self.version, id);
        let answer = self.spend(budget, Command::Read(&key), road).await?;
        let mut parts = answer.into_list().into_iter();
        let left = parts.next().and_then(|left| left.number()).unwrap_or(0);
        Ok(match (parts.next(), u64::try_from(left)) {
            (Some(Reply::Bytes(bytes)), Ok(left)) => Some(self.weighed(bytes, left)),
            // Gone between the two questions.
            (Some(Reply::Bytes(_)), Err(_)) if left != -1 => None,
            // Without an end, or of another type: it is not ours.
            (Some(Reply::Bytes(_) | Reply::Error(_)), _) => {
                Some(Stored { bytes: Bytes::new(), left: Duration::ZERO })
            }
            _ => None,
        })
    }

    fn weighed(&self, bytes: Bytes, left: u64) -> Stored {
        self.weigh(bytes.len());
        Stored { bytes, left: Duration::from_millis(left) }
    }

    fn weigh(&self, bytes: usize) {
        let mean = self.mean.load(Relaxed);
        self.mean.store(if mean == 0 { bytes } else { mean - mean / 8 + bytes / 8 }, Relaxed);
    }

    async fn lease(&self, id: &str, request: Request, budget: &mut Budget) -> Result<Leased, Unavailable> {
        let road = self.road();
        let (token, life) = (request.token.to_string(), millis(request.life));
        let (stale, entry);
        let reject: &[u8] = match request.reject {
            Reject::Nothing => b"",
            Reject::All => b"*",
            Reject::Entry(id) => {
                entry = id.to_be_bytes();
                &entry
            }
        };
        let stale: &[u8] = match request.stale {
            None => b"",
            Some(id) => {
                stale = id.to_be_bytes();
                &stale
            }
        };
        let listening: &[u8] = if request.listening { b"1" } else { b"0" };
        let ahead = request.ahead.as_millis().to_string();
        let arguments = [token.as_bytes(), life.as_bytes(), reject, stale, listening, ahead.as_bytes()];
        let run = Command::Run { script: &LEASE, keys: &self.pair(id), arguments: &arguments };
        match self.spend(budget, run, road).await {
            Ok(answer) => self.leased(answer).ok_or(Unavailable),
            Err(unusable) => {
                if unusable == Unusable::Unanswered {
                    self.take_back(id, token);
                }
                Err(unusable.into())
            }
        }
    }

    fn take_back(&self, id: &str, token: String) {
        let arguments = vec![token.into(), Bytes::from_static(b"keep"), self.wakes.clone().into()];
        let (redis, keys) = (self.redis.clone(), self.pair(id).into());
        Takeback { redis, script: &RELEASE, keys, arguments, road: Road::Usual }.begin();
    }

    fn leased(&self, answer: Reply) -> Option<Leased> {
        let mut parts = answer.into_list().into_iter();
        let kind = parts.next()?;
        let number = u64::try_from(parts.next()?.number()?).ok()?;
        let left = Duration::from_millis(number);
        Some(match kind.text()? {
            "entry" => Leased::Entry(self.weighed(parts.next()?.into_bytes()?, number)),
            "granted" => Leased::Granted { stale_is_kept: number == 1 },
            "busy" => Leased::Busy(left),
            "failed" => Leased::Failed(left),
            "unshared" => Leased::Unshared,
            _ => return None,
        })
    }

    async fn settle(&self, id: &str, token: Token, step: Settle) -> Result<bool, Unavailable> {
        let spelt = token.to_string();
        let (token, wakes) = (spelt.as_bytes(), self.wakes.as_bytes());
        let life = match &step {
            Settle::Fill { life, .. } | Settle::Renew(life) | Settle::Note(_, life) => millis(*life),
            Settle::Discard | Settle::Release => String::new(),
        };
        let life = life.as_bytes();
        let road = match &step {
            Settle::Fill { bytes, .. } => {
                self.weigh(bytes.len());
                if bytes.len() > LARGE { Road::Large } else { Road::Usual }
            }
            // Not past its request, where that is still on its way.
            Settle::Release => self.road(),
            _ => Road::Usual,
        };
        let (script, arguments): (&Script, &[&[u8]]) = match &step {
            Settle::Fill { bytes, .. } => (&FILL, &[token, life, bytes, wakes]),
            Settle::Renew(_) => (&RENEW, &[token, life]),
            Settle::Note(Note::Failed, _) => (&NOTE, &[token, life, b"failed", wakes]),
            Settle::Note(Note::Unshared, _) => (&NOTE, &[token, life, b"unshared", wakes]),
            Settle::Discard => (&RELEASE, &[token, b"discard", wakes]),
            Settle::Release => (&RELEASE, &[token, b"keep", wakes]),
        };
        let settled = self.run(script, &self.pair(id), arguments, road).await;
        if settled.is_err() && matches!(step, Settle::Release) {
            self.take_back(id, spelt);
        }
        Ok(settled?.number() == Some(1))
    }

    async fn change(&self, id: &str, change: Change) -> Result<(), Unavailable> {
        let kind = change.kind();
        let script = if kind == Kind::Aged { &EXPIRE } else { &INVALIDATE };
        let (token, life) = match change {
            Change::Claim(token, life) => (token.to_string(), millis(life)),
            Change::Invalidate | Change::Expire => (String::new(), String::new()),
        };
        let keys = self.all_pairs(id);
        // A change that cannot be sent takes no number: nobody is to wait for it.
        if !self.redis.may_answer(&keys[0]) {
            return Err(Unavailable);
        }
        let announced = self.bus.announce(self.name.as_str(), id, kind);
        let (channel, wakes) = (self.invalidations.as_bytes(), self.wakes.as_bytes());
        let all = [channel, announced.message(), wakes, token.as_bytes(), life.as_bytes()];
        let arguments = if kind == Kind::Aged { &all[..3] } else { &all[..] };
        self.run(script, &keys, arguments, Road::Usual).await?;
        // Whoever has given the message up does not know of the change: it is told anew.
        if announced.answered() { Ok(()) } else { Err(Unavailable) }
    }

    async fn spend(&self, budget: &mut Budget, request: Command<'_>, road: Road) -> Result<Reply, Unusable> {
        let clock = self.redis.clock();
        let began = clock.now();
        let spent = self.redis.span(Road::Large).saturating_sub(budget.0);
        let until = began.after(self.redis.span(road).saturating_sub(spent));
        let answer = self.redis.call(request, road, until).await;
        let most = if answer.is_ok() { until.since(began).saturating_sub(LEAST) } else { Duration::MAX };
        budget.0 = budget.0.saturating_sub(clock.now().since(began).min(most));
        answer
    }

    async fn run(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
        road: Road,
    ) -> Result<Reply, Unavailable> {
        let run = Command::Run { script, keys, arguments };
        Ok(self.redis.call(run, road, self.redis.budget(road)).await?)
    }

    /// The connection for what is likely to bring the value.
    fn road(&self) -> Road {
        if self.mean.load(Relaxed) > LARGE { Road::Large } else { Road::Usual }
    }

    fn pair(&self, id: &str) -> [String; 2] {
        self.pair_of(self.version, id)
    }

    fn pair_of(&self, version: u32, id: &str) -> [String; 2] {
        [self.keys.value(&self.name, version, id), self.keys.lease(&self.name, version, id)]
    }

    /// Value and lease of every version that may be running, this one's first.
    fn all_pairs(&self, id: &str) -> Vec<String> {
        let neighbours = generations(self.version).filter(|version| *version != self.version);
        std::iter::once(self.version)
            .chain(neighbours)
            .flat_map(|version| self.pair_of(version, id))
            .collect()
    }
}

/// Whole milliseconds, at least one: zero would end what it is the life of.
fn millis(span: Duration) -> String {
    span.as_millis().clamp(1, 1 << 53).to_string()
}

impl From<Unusable> for Unavailable {
    fn from(_: Unusable) -> Self {
        Self
    }
}

impl Backend for RedisBackend {
    /// As long as large values may take; what else is asked is given less.
    fn budget(&self) -> Budget {
        Budget(self.redis.span(Road::Large))
    }

    fn read<'a>(&'a self, id: &'a str, budget: &'a mut Budget) -> Answer<'a, Option<Stored>> {
        Box::pin(self.read(id, budget))
    }

    fn lease<'a>(&'a self, id: &'a str, request: Request, budget: &'a mut Budget) -> Answer<'a, Leased> {
        Box::pin(self.lease(id, request, budget))
    }

    fn settle<'a>(&'a self, id: &'a str, token: Token, step: Settle) -> Answer<'a, bool> {
        Box::pin(self.settle(id, token, step))
    }

    fn change<'a>(&'a self, id: &'a str, change: Change) -> Answer<'a, ()> {
        Box::pin(self.change(id, change))
    }

    fn inspect<'a>(&'a self, id: &'a str) -> Answer<'a, Seen> {
        Box::pin(self.inspect(id))
    }

    fn numbers<'a>(&'a self, question: Question<'a>, budget: &'a mut Budget) -> Answer<'a, Known> {
        Box::pin(self.numbers(question, budget))
    }

    fn raise<'a>(&'a self, group: &'a Group, own: u64) -> Answer<'a, u64> {
        Box::pin(self.raise(group, own))
    }

    fn find<'a>(&'a self, finder: &'a dyn Finder) -> BoxFuture<'a, bool> {
        Box::pin(self.find(finder))
    }

    fn wake_name(&self, id: &str) -> String {
        self.keys.lease(&self.name, self.version, id)
    }
}

impl Distant for RedisBackend {
    fn space(&self) -> Space {
        self.space
    }

    fn held_numbers(&self) -> &Numbers {
        &self.numbers
    }
}
