//! The scripts of one mode over the small Redis, told and understood as the Redis backend does it.

use std::{sync::Arc, time::Duration};

use super::{
    model::Rule,
    server::{Entry, Reply, Script, Server},
};
use crate::{
    key::Name,
    limiter::{
        Mode, Window,
        backend::{self, Ask, Hold, Settlement},
        policy::Tier,
        redis::{
            scripts::{RESET, Scripts as Shipped},
            words,
        },
    },
    redis::{Reply as Heard, Script as Text},
};

pub(super) const KEY: &str = "k";

/// What a check answers.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) admitted: bool,
    /// Milliseconds; zero when admitted.
    pub(super) retry: i64,
    pub(super) readable: bool,
    pub(super) hold: Hold,
    /// Used and the milliseconds until nothing is, for each window.
    pub(super) windows: Vec<(i64, i64)>,
}

pub(super) struct Scripts {
    pub(super) server: Server,
    mode: Mode,
    check: Script,
    settle: Script,
    reset: Script,
    /// The longest window of the policy.
    horizon: i64,
}

impl Scripts {
    pub(super) fn shipped(mode: Mode) -> Self {
        Self::changed(mode, str::to_owned)
    }

    /// The shipped scripts with some change to their text.
    pub(super) fn changed(mode: Mode, change: impl Fn(&str) -> String) -> Self {
        let (server, shipped) = (Server::new(), Shipped::of(mode));
        let load = |script: &Text| server.load(&change(script.text()));
        let (check, settle, reset) = (load(&shipped.check), load(&shipped.settle), server.load(RESET.text()));
        Self { server, mode, check, settle, reset, horizon: 0 }
    }

    /// For a policy of these tiers. No script may keep a key for longer than something in it can count: R21, R23.
    pub(super) fn of(mut self, tiers: &[Vec<Rule>]) -> Self {
        self.horizon = longest(tiers);
        self.server.set_horizon(match self.mode {
            Mode::Log => self.horizon,
            Mode::Gcra if tiers.len() == 1 => self.horizon,
            Mode::Strict if tiers.len() == 1 => (11 * self.horizon + 9) / 10,
            Mode::Gcra | Mode::Strict | Mode::Sliding => 2 * self.horizon,
        });
        self
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn now(&self) -> i64 {
        self.server.now()
    }

    pub(super) fn step(&self, ms: i64) {
        self.server.step(ms);
    }

    pub(super) fn entry(&self) -> Option<Entry> {
        self.server.entry(KEY)
    }

    pub(super) fn persist(&self) {
        self.server.persist(KEY);
    }

    /// Puts key and clock back to where they were.
    pub(super) fn restore(&self, entry: Option<Entry>, now: i64) {
        self.server.restore(KEY, entry, now);
    }

    pub(super) fn ask(&self, cost: i64, take: bool, rules: &[Rule]) -> Result<Verdict, String> {
        let tier = tier(rules, self.horizon);
        let ask = Ask { tier: &tier, cost: natural(cost), take, until: None };
        let reply = self.server.run(&self.check, &[KEY], &own(words::check(self.mode, ask)))?;
        let verdict = words::verdict(self.mode, ask, heard(reply.clone()));
        verdict.map(Verdict::from).ok_or_else(|| format!("a check answers {reply:?}"))
    }

    pub(super) fn settle(
        &self,
        hold: &Hold,
        [reserved, actual]: [i64; 2],
        rules: &[Rule],
    ) -> Result<bool, String> {
        let Hold::Redis(place) = hold else { return Err(format!("{hold:?} is not in Redis")) };
        let tier = tier(rules, self.horizon);
        let settlement =
            Settlement { tier: &tier, hold, reserved: natural(reserved), actual: natural(actual) };
        let message: &[u8] = if actual < reserved { b"freed" } else { b"" };
        let words = own(words::settle(self.mode, settlement, place, [b"channel", message]));
        match self.server.run(&self.settle, &[KEY], &words)? {
            Reply::Integer(settled) => Ok(settled == 1),
            other => Err(format!("a settlement answers {other:?}")),
        }
    }

    pub(super) fn reset(&self) {
        let words = [b"channel".to_vec(), b"reset".to_vec()];
        self.server.run(&self.reset, &[KEY], &words).expect("a reset cannot fail");
    }
}

impl From<backend::Verdict> for Verdict {
    fn from(verdict: backend::Verdict) -> Self {
        let windows = verdict.usage.iter().map(|usage| (whole(usage.used), millis(usage.rest)));
        Self {
            admitted: verdict.fits,
            retry: millis(verdict.wait),
            readable: !verdict.unreadable,
            windows: windows.collect(),
            hold: verdict.hold,
        }
    }
}

/// A reply of the small Redis as the one handle to Redis gives it.
fn heard(reply: Reply) -> Heard {
    match reply {
        Reply::Integer(number) => Heard::Number(number),
        Reply::Bulk(bytes) => Heard::Bytes(bytes.into()),
        Reply::Status(text) => Heard::Bytes(text.into()),
        Reply::Many(replies) => Heard::List(replies.into_iter().map(heard).collect()),
        Reply::Nil => Heard::Nothing,
        Reply::Error(text) => Heard::Error(text),
    }
}

/// A tier of a policy whose longest window is at least `horizon`.
pub(super) fn tier(rules: &[Rule], horizon: i64) -> Arc<Tier> {
    let window = |rule: &Rule| {
        let window = Window::new(natural(rule.limit), Duration::from_millis(natural(rule.window)));
        let window = window.expect("the tests use windows that can be kept");
        if rule.burst == rule.limit { window } else { window.burst(natural(rule.burst)) }
    };
    let name = Name::new("t").expect("a letter is a name");
    let horizon = natural(rules.iter().map(|rule| rule.window).fold(horizon, i64::max));
    Arc::new(Tier::new(name.clone(), name, rules.iter().map(window).collect::<Vec<_>>(), horizon))
}

pub(super) fn longest(tiers: &[Vec<Rule>]) -> i64 {
    tiers.iter().flatten().map(|rule| rule.window).max().unwrap_or(0)
}

pub(super) fn natural(number: i64) -> u64 {
    number.try_into().expect("it is not negative")
}

fn whole(number: u64) -> i64 {
    number.try_into().expect("it is far below 2^63")
}

fn millis(duration: Duration) -> i64 {
    duration.as_millis().try_into().expect("it is far below 2^63")
}

fn own(words: Vec<words::Word<'_>>) -> Vec<Vec<u8>> {
    words.into_iter().map(words::Word::into_owned).collect()
}
