//! The store that processes share: one script per step.

mod scripts;

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;

use self::scripts::{ACQUIRE, FORCE_RELEASE, RELEASE, RENEW};
use super::{
    backend::{Answer, Ask, Backend, Freed, Verdict},
    options::Replicas,
};
use crate::{
    context::Remote,
    key::Keys,
    redis::{Confirm, Reply, Request, Road, Script, Takeback, Unusable, Watch},
    token::Token,
};

/// For how long the last fence of a lock is remembered that nobody takes.
const FENCE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The locks in Redis.
#[derive(Debug)]
pub(super) struct RedisBackend {
    keys: Keys,
    remote: Remote,
    wakes: String,
}

impl RedisBackend {
    pub(super) fn new(keys: Keys, remote: Remote) -> Self {
        Self { wakes: keys.wake_channel(), keys, remote }
    }

    async fn acquire(&self, name: &str, ask: Ask) -> Result<Verdict, Unusable> {
        let road = if ask.replicas.is_some() { Road::Apart } else { Road::Usual };
        let mut watch = Watch::unless_answered(|| self.freeing(name, ask.token, road));
        if ask.again {
            // A release would come between a grant and the same question asked again: it would free what is held.
            watch.answered();
        }
        let answer = self.ask(name, ask).await;
        watch.answers(&answer);
        if answer == Ok(Verdict::Foreign) {
            self.remote.redis.report_foreign(&self.keys.lock(name));
        }
        if matches!(answer, Ok(Verdict::Unconfirmed(_))) {
            self.give_back(name, ask).await;
        }
        answer
    }

    async fn ask(&self, name: &str, ask: Ask) -> Result<Verdict, Unusable> {
        let keys = [self.keys.lock(name), self.keys.fence(name)];
        let (token, life, kept) = (ask.token.to_string(), millis(ask.life), millis(FENCE));
        let waits: &[u8] = if ask.waits { b"1" } else { b"0" };
        let arguments = [token.as_bytes(), life.as_bytes(), kept.as_bytes(), waits];
        let Some(Replicas { count, within }) = ask.replicas else {
            return verdict(&self.run(&ACQUIRE, &keys, &arguments).await?);
        };
        let redis = &self.remote.redis;
        let request = Request::Confirmed {
            script: &ACQUIRE,
            keys: &keys,
            arguments: &arguments,
            confirm: Confirm { replicas: count, within },
        };
        let until = redis.budget(Road::Apart).after(within);
        let mut parts = redis.call(request, Road::Apart, until).await?.into_list().into_iter();
        let verdict = verdict(&parts.next().unwrap_or(Reply::Nothing))?;
        let confirmed = parts.next().and_then(|count| count.number()).unwrap_or(0);
        let confirmed = u32::try_from(confirmed).unwrap_or(0);
        let lacks = matches!(verdict, Verdict::Granted { .. }) && confirmed < count;
        Ok(if lacks { Verdict::Unconfirmed(confirmed) } else { verdict })
    }

    async fn release(&self, name: &str, token: Token) -> Result<bool, Unusable> {
        let mut watch = Watch::unless_answered(|| self.freeing(name, token, Road::Usual));
        let released = self.free(name, token).await?;
        watch.answered();
        Ok(released.number() == Some(1))
    }

    /// Gives back what was granted. Whoever can ask again is told afterwards, so that no release comes later.
    async fn give_back(&self, name: &str, ask: Ask) {
        if ask.again {
            self.free(name, ask.token).await.ok();
        } else {
            self.freeing(name, ask.token, Road::Usual).begin();
        }
    }

    async fn free(&self, name: &str, token: Token) -> Result<Reply, Unusable> {
        let (token, keys) = (token.to_string(), [self.keys.lock(name)]);
        self.run(&RELEASE, &keys, &[token.as_bytes(), self.wakes.as_bytes()]).await
    }

    /// What frees the lock once the store can be asked, by the `road` of the request that may hold it.
    fn freeing(&self, name: &str, token: Token, road: Road) -> Takeback {
        let Self { keys, remote, wakes } = self;
        let arguments = vec![token.to_string().into(), Bytes::from(wakes.clone())];
        let keys = vec![keys.lock(name)];
        Takeback { redis: remote.redis.clone(), script: &RELEASE, keys, arguments, road }
    }

    async fn renew(&self, name: &str, token: Token, life: Duration) -> Result<bool, Unusable> {
        let (token, life) = (token.to_string(), millis(life));
        let keys = [self.keys.lock(name)];
        Ok(self.run(&RENEW, &keys, &[token.as_bytes(), life.as_bytes()]).await?.number() == Some(1))
    }

    async fn force_release(&self, name: &str) -> Result<Freed, Unusable> {
        let keys = [self.keys.lock(name)];
        let answer = self.run(&FORCE_RELEASE, &keys, &[self.wakes.as_bytes()]).await?;
        Ok(match answer.number() {
            Some(1) => Freed::Held,
            Some(0) => Freed::Nothing,
            _ => Freed::Foreign,
        })
    }

    async fn run(&self, script: &Script, keys: &[String], arguments: &[&[u8]]) -> Result<Reply, Unusable> {
        let redis = &self.remote.redis;
        redis.call(Request::Run { script, keys, arguments }, Road::Usual, redis.budget(Road::Usual)).await
    }
}

fn verdict(answer: &Reply) -> Result<Verdict, Unusable> {
    if let Some(left) = answer.number() {
        // Without an end, it was not locked here.
        let busy = |left| Verdict::Busy(Duration::from_millis(left));
        return Ok(u64::try_from(left).map_or(Verdict::Foreign, busy));
    }
    let fence = answer.text().and_then(|digits| digits.parse().ok()).ok_or(Unusable::Unanswered)?;
    Ok(Verdict::Granted { fence })
}

fn millis(span: Duration) -> String {
    span.as_millis().to_string()
}

impl Backend for RedisBackend {
    fn acquire<'a>(&'a self, name: &'a str, ask: Ask) -> Answer<'a, Verdict> {
        self.acquire(name, ask).boxed()
    }

    fn renew<'a>(&'a self, name: &'a str, token: Token, life: Duration) -> Answer<'a, bool> {
        self.renew(name, token, life).boxed()
    }

    fn release<'a>(&'a self, name: &'a str, token: Token) -> Answer<'a, bool> {
        self.release(name, token).boxed()
    }

    fn force_release<'a>(&'a self, name: &'a str) -> Answer<'a, Freed> {
        self.force_release(name).boxed()
    }

    fn wake_name(&self, name: &str) -> String {
        self.keys.lock(name)
    }
}
