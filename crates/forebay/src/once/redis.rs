//! The store that processes share: a claim is one pipeline, what is done to a record one script.

mod scripts;

use std::time::Duration;

use futures::FutureExt;

use self::scripts::{BEGIN, COMPLETE, GIVE_UP, RENEW, UNCLAIM};
use super::{
    backend::{Answer, Backend, Begin, Bid, Complete, Found, Kept, Known, Step, Under},
    record::Record,
};
use crate::{
    context::Remote,
    key::Keys,
    redis::{Reply, Request, Road, Script, Takeback, Unusable, Watch},
    token::Token,
};

/// What is larger takes a connection of its own.
const LARGE: usize = 64 << 10;

/// What `PTTL` says of a key that stays for ever.
const NO_END: i64 = -1;

/// Claims and executions in Redis.
#[derive(Debug)]
pub(crate) struct RedisBackend {
    keys: Keys,
    remote: Remote,
}

impl RedisBackend {
    pub(crate) fn new(keys: Keys, remote: Remote) -> Self {
        Self { keys, remote }
    }

    async fn claim(&self, name: &str, under: Under, life: Duration) -> Result<Bid, Unusable> {
        let (key, token, redis) = (self.keys.claim(name), under.token.to_string(), &self.remote.redis);
        let mut watch = Watch::unless_answered(|| self.takeback(&UNCLAIM, &key, &token));
        leave_to_caller(under, &mut watch);
        let recognise = under.known == Known::ToCaller;
        let request = Request::Claim { key: &key, token: &token, life: millis(life), recognise };
        let reply = redis.call(request, Road::Usual, redis.budget(Road::Usual)).await;
        watch.answers(&reply);
        let mut parts = reply?.into_list().into_iter();
        let (set, left, owner) = (parts.next(), parts.next(), parts.next());
        let left = left.and_then(|left| left.number());
        if matches!(set, Some(Reply::Bytes(_))) {
            return Ok(Bid::Claimed(life));
        }
        if left == Some(NO_END) {
            redis.report_foreign(&key);
            return Ok(Bid::Foreign(key.clone()));
        }
        // Without one, it ended between the questions.
        let left = Duration::from_millis(left.and_then(|left| u64::try_from(left).ok()).unwrap_or(0).max(1));
        let is_ours = owner.is_some_and(|owner| owner.text() == Some(&token));
        Ok(if is_ours { Bid::Claimed(left) } else { Bid::Taken(left) })
    }

    async fn begin(&self, name: &str, begin: Begin) -> Result<Found, Unusable> {
        let (key, token) = (self.keys.idempotency(name), begin.under.token.to_string());
        let mut watch = Watch::unless_answered(|| self.takeback(&GIVE_UP, &key, &token));
        leave_to_caller(begin.under, &mut watch);
        let mut reply = self.ask(&key, &token, begin, Road::Usual).await;
        if reply.as_ref().is_ok_and(|reply| kind(reply) == Some("large")) {
            reply = self.ask(&key, &token, begin, Road::Large).await;
        }
        // An answer that cannot be read is as good as none.
        let found = reply.and_then(|reply| found(reply).ok_or(Unusable::Unanswered));
        watch.answers(&found);
        found
    }

    async fn ask(&self, key: &str, token: &str, begin: Begin, road: Road) -> Result<Reply, Unusable> {
        let Begin { print, lease, keep, again, .. } = begin;
        let (print, lease, keep) = (print.to_string(), millis(lease).to_string(), millis(keep).to_string());
        let most = if road == Road::Large { usize::MAX >> 12 } else { LARGE }.to_string();
        let again = if again { "1" } else { "0" };
        self.run(&BEGIN, key, &[token, &print, &lease, &keep, again, &most].map(str::as_bytes), road).await
    }

    async fn step(&self, name: &str, token: Token, step: Step) -> Result<Option<Duration>, Unusable> {
        let (key, token) = (self.keys.idempotency(name), token.to_string());
        let answer = match step {
            Step::Renew { lease, keep } => {
                let (lease, keep) = (millis(lease).to_string(), millis(keep).to_string());
                self.run(&RENEW, &key, &[&token, &lease, &keep].map(String::as_bytes), Road::Usual).await
            }
            Step::GiveUp => {
                let mut watch = Watch::unless_answered(|| self.takeback(&GIVE_UP, &key, &token));
                let answer = self.run(&GIVE_UP, &key, &[token.as_bytes()], Road::Usual).await;
                if answer.is_ok() {
                    watch.answered();
                }
                answer
            }
        };
        let life = answer?.number().and_then(|life| u64::try_from(life).ok()).unwrap_or(0);
        Ok((life > 0).then(|| Duration::from_millis(life)))
    }

    async fn complete(&self, name: &str, token: Token, complete: Complete<'_>) -> Result<Kept, Unusable> {
        let (key, token) = (self.keys.idempotency(name), token.to_string());
        let Complete { record, life, print } = complete;
        let (life, print) =
            (millis(life).to_string(), print.map_or_else(String::new, |print| print.to_string()));
        let stage: &[u8] = if record.is_omitted() { b"o" } else { b"d" };
        let road = if record.bytes().len() > LARGE { Road::Large } else { Road::Usual };
        let arguments = [token.as_bytes(), stage, record.bytes(), life.as_bytes(), print.as_bytes()];
        Ok(match self.run(&COMPLETE, &key, &arguments, road).await?.number() {
            Some(1) => Kept::Stored,
            Some(2) => Kept::Another,
            _ => Kept::Lost,
        })
    }

    fn takeback(&self, script: &'static Script, key: &str, token: &str) -> Takeback {
        let (redis, arguments) = (self.remote.redis.clone(), vec![token.to_owned().into()]);
        Takeback { redis, script, keys: vec![key.to_owned()], arguments, road: Road::Usual }
    }

    async fn run(
        &self,
        script: &Script,
        key: &str,
        arguments: &[&[u8]],
        road: Road,
    ) -> Result<Reply, Unusable> {
        let (keys, redis) = ([key.to_owned()], &self.remote.redis);
        redis.call(Request::Run { script, keys: &keys, arguments }, road, redis.budget(road)).await
    }
}

/// What its caller can ask for again is not taken back: a release would come between the two.
fn leave_to_caller(under: Under, watch: &mut Watch<impl FnOnce() -> Takeback>) {
    if under.known == Known::ToCaller {
        watch.answered();
    }
}

fn kind(reply: &Reply) -> Option<&str> {
    match reply {
        Reply::List(parts) => parts.first()?.text(),
        _ => None,
    }
}

fn found(reply: Reply) -> Option<Found> {
    let mut parts = reply.into_list().into_iter();
    let (kind, part) = (parts.next()?, parts.next());
    let life = || Some(Duration::from_millis(u64::try_from(part.as_ref()?.number()?).ok()?));
    Some(match kind.text()? {
        "run" => Found::Run(life()?),
        "running" => Found::Running(life()?),
        "d" => Found::Done(Record::new(part?.into_bytes()?)),
        "o" => Found::Done(Record::omitted()),
        "mismatch" => Found::Mismatch,
        "indeterminate" => Found::Indeterminate,
        "unreadable" => Found::Unreadable,
        _ => return None,
    })
}

/// Whole milliseconds, at least one.
fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis().clamp(1, 1 << 53)).unwrap_or(1 << 53)
}

impl Backend for RedisBackend {
    fn claim<'a>(&'a self, name: &'a str, under: Under, life: Duration) -> Answer<'a, Bid> {
        self.claim(name, under, life).boxed()
    }

    fn unclaim<'a>(&'a self, name: &'a str, token: Token) -> Answer<'a, bool> {
        async move {
            let (key, token) = (self.keys.claim(name), token.to_string());
            let answer = self.run(&UNCLAIM, &key, &[token.as_bytes()], Road::Usual).await?;
            Ok(answer.number() == Some(1))
        }
        .boxed()
    }

    fn begin<'a>(&'a self, name: &'a str, begin: Begin) -> Answer<'a, Found> {
        self.begin(name, begin).boxed()
    }

    fn step<'a>(&'a self, name: &'a str, token: Token, step: Step) -> Answer<'a, Option<Duration>> {
        self.step(name, token, step).boxed()
    }

    fn complete<'a>(&'a self, name: &'a str, token: Token, complete: Complete<'a>) -> Answer<'a, Kept> {
        self.complete(name, token, complete).boxed()
    }
}
