//! The store that processes share: one script and one key per decision.

pub(super) mod scripts;
mod value;
pub(super) mod words;

use futures::FutureExt;

use self::{
    scripts::{RESET, Scripts},
    words::Word,
};
use super::{
    backend::{Answer, Ask, Backend, Hold, Settlement, Verdict},
    home::Remote,
    mode::Mode,
};
use crate::{
    bus::Kind,
    clock::Moment,
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
    pub(super) fn new(policy: Name, mode: Mode, keys: Keys, remote: Remote) -> Self {
        let channel = keys.invalidate_channel();
        Self { policy, mode, scripts: Scripts::of(mode), keys, remote, channel }
    }

    pub(super) async fn check(&self, subject: &str, ask: Ask<'_>) -> Result<Verdict, Unusable> {
        let reply = self.run(&self.scripts.check, subject, &words::check(self.mode, ask), ask.until).await?;
        words::verdict(self.mode, ask, reply).ok_or(Unusable::NotDone)
    }

    /// A correction that frees something is told to those who remember a refusal.
    async fn settle(&self, subject: &str, settlement: Settlement<'_>) -> Result<(), Unusable> {
        let Hold::Redis(hold) = settlement.hold else { return Ok(()) };
        let frees = settlement.actual < settlement.reserved;
        let announced = frees.then(|| self.remote.bus.announce(self.policy.as_str(), subject, Kind::Freed));
        let message = announced.as_ref().map_or(&b""[..], |announced| announced.message());
        let arguments = words::settle(self.mode, settlement, hold, [self.channel.as_bytes(), message]);
        self.run(&self.scripts.settle, subject, &arguments, None).await?;
        if let Some(announced) = announced {
            announced.answered();
        }
        Ok(())
    }

    async fn reset(&self, subject: &str) -> Result<(), Unusable> {
        let announced = self.remote.bus.announce(self.policy.as_str(), subject, Kind::Freed);
        let arguments = [self.channel.as_bytes().into(), announced.message().into()];
        self.run(&RESET, subject, &arguments, None).await?;
        announced.answered();
        Ok(())
    }

    async fn run(
        &self,
        script: &Script,
        subject: &str,
        arguments: &[Word<'_>],
        until: Option<Moment>,
    ) -> Result<Reply, Unusable> {
        let keys = [self.keys.limit(&self.policy, subject, self.mode.variant())];
        let arguments: Vec<&[u8]> = arguments.iter().map(|word| &**word).collect();
        let request = Request::Run { script, keys: &keys, arguments: &arguments };
        let redis = &self.remote.store.redis;
        redis.call(request, Road::Usual, until.unwrap_or_else(|| redis.budget(Road::Usual))).await
    }
}

impl Backend for RedisBackend {
    fn budget(&self) -> Option<Moment> {
        Some(self.remote.store.redis.budget(Road::Usual))
    }

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
