//! The store that processes share: one script and one key per decision.

mod scripts;
mod value;

use std::{sync::Arc, time::Duration};

use futures::FutureExt;

use self::scripts::{RESET, Scripts};
use super::{
    backend::{Answer, Ask, Backend, Hold, Settlement, Verdict},
    home::Remote,
    mode::Mode,
    policy::Tier,
    quota::Usage,
    window::Window,
};
use crate::{
    bus::Kind,
    key::{Keys, Name},
    redis::{Reply, Request, Road, Script, Unusable},
};

/// One policy in Redis.
#[derive(Debug)]
pub(crate) struct RedisBackend {
    policy: Name,
    mode: Mode,
    scripts: &'static Scripts,
    keys: Keys,
    remote: Remote,
    channel: String,
}

impl RedisBackend {
    pub(crate) fn new(policy: Name, mode: Mode, keys: Keys, remote: Remote) -> Self {
        let channel = keys.invalidate_channel();
        Self { policy, mode, scripts: Scripts::of(mode), keys, remote, channel }
    }

    pub(super) async fn check(&self, subject: &str, ask: Ask<'_>) -> Result<Verdict, Unusable> {
        let mut arguments = self.preface(ask.tier);
        arguments.extend([decimal(ask.cost), decimal(ask.take)]);
        arguments.extend(self.horizon(ask.tier));
        arguments.extend(self.windows(ask.tier));
        let reply = self.run(&self.scripts.check, subject, &arguments).await?;
        let verdict = match self.mode {
            Mode::Log => log_verdict(reply),
            mode => value::verdict(mode, ask, reply),
        };
        verdict.ok_or(Unusable::NotDone)
    }

    /// A correction that frees something is told to those who remember a refusal.
    async fn settle(&self, subject: &str, settlement: Settlement<'_>) -> Result<(), Unusable> {
        let Settlement { tier, hold, reserved, actual } = settlement;
        let Hold::Redis(hold) = hold else { return Ok(()) };
        let frees = actual < reserved;
        let announced = frees.then(|| self.remote.bus.announce(self.policy.as_str(), subject, Kind::Freed));
        let message = announced.as_ref().map_or(&b""[..], |announced| announced.message());
        let mut arguments = self.preface(tier);
        arguments.extend([hold.to_vec(), decimal(reserved), decimal(actual)]);
        arguments.extend([self.channel.clone().into_bytes(), message.to_vec()]);
        arguments.extend(self.horizon(tier));
        arguments.extend(self.windows(tier));
        self.run(&self.scripts.settle, subject, &arguments).await?;
        if let Some(announced) = announced {
            announced.answered();
        }
        Ok(())
    }

    async fn reset(&self, subject: &str) -> Result<(), Unusable> {
        let announced = self.remote.bus.announce(self.policy.as_str(), subject, Kind::Freed);
        let arguments = [self.channel.clone().into_bytes(), announced.message().to_vec()];
        self.run(&RESET, subject, &arguments).await?;
        announced.answered();
        Ok(())
    }

    async fn run(&self, script: &Script, subject: &str, arguments: &[Vec<u8>]) -> Result<Reply, Unusable> {
        let keys = [self.keys.limit(&self.policy, subject)];
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let request = Request::Run { script, keys: &keys, arguments: &arguments };
        let redis = &self.remote.redis;
        redis.call(request, Road::Usual, redis.budget(Road::Usual)).await
    }

    /// What every script on packed windows begins with: their layout, and the life of what is written.
    fn preface(&self, tier: &Tier) -> Vec<Vec<u8>> {
        if self.mode == Mode::Log {
            return Vec::new();
        }
        let longest = tier.windows.iter().map(Window::millis).max().unwrap_or(0);
        vec![value::layout(self.mode, tier), decimal(self.mode.life(longest))]
    }

    /// For how long a log is kept.
    fn horizon(&self, tier: &Tier) -> Option<Vec<u8>> {
        (self.mode == Mode::Log).then(|| decimal(tier.horizon))
    }

    fn windows(&self, tier: &Tier) -> Vec<Vec<u8>> {
        let of = |window: &Window| match self.mode {
            Mode::Log => vec![decimal(window.millis()), decimal(window.limit())],
            Mode::Gcra => vec![decimal(window.limit()), decimal(window.most_at_once())],
            Mode::Strict | Mode::Sliding => vec![decimal(window.limit())],
        };
        tier.windows.iter().flat_map(of).collect()
    }
}

fn decimal(number: impl Into<u64>) -> Vec<u8> {
    number.into().to_string().into_bytes()
}

/// Reads what the script on logs answers.
fn log_verdict(reply: Reply) -> Option<Verdict> {
    let parts = reply.into_list();
    let number = |part: &Reply| u64::try_from(part.number()?).ok();
    let [fits, wait, readable, hold, usage @ ..] = parts.as_slice() else { return None };
    let usage = usage.chunks_exact(2).map(|pair| {
        let rest = Duration::from_millis(number(&pair[1])?);
        Some(Usage { used: number(&pair[0])?, rest })
    });
    Some(Verdict {
        fits: number(fits)? == 1,
        wait: Duration::from_millis(number(wait)?),
        usage: usage.collect::<Option<Arc<[_]>>>()?,
        hold: hold.clone().into_bytes().filter(|hold| !hold.is_empty()).map_or(Hold::Nowhere, Hold::Redis),
        applied: None,
        unreadable: number(readable)? == 0,
    })
}

impl Backend for RedisBackend {
    fn check<'a>(&'a self, subject: &'a str, ask: Ask<'a>) -> Answer<'a, Verdict> {
        self.check(subject, ask).boxed()
    }

    fn settle<'a>(&'a self, subject: &'a str, settlement: Settlement<'a>) -> Answer<'a, ()> {
        self.settle(subject, settlement).boxed()
    }

    fn reset<'a>(&'a self, subject: &'a str) -> Answer<'a, ()> {
        self.reset(subject).boxed()
    }
}
