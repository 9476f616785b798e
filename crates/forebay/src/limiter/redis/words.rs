//! What the scripts are told, and what they answer.

use std::{borrow::Cow, time::Duration};

use super::value;
use crate::{
    limiter::{
        backend::{Ask, Hold, Settlement, Verdict},
        mode::Mode,
        policy::Tier,
        quota::Usage,
        window::Window,
    },
    redis::Reply,
};

/// One word of a script's arguments.
pub(in crate::limiter) type Word<'a> = Cow<'a, [u8]>;

/// What every script is told of a tier: before what it is asked, and after.
#[derive(Debug)]
pub(in crate::limiter) struct Preface {
    before: Vec<Vec<u8>>,
    after: Vec<Vec<u8>>,
}

impl Preface {
    fn of(mode: Mode, tier: &Tier) -> Self {
        let before = match mode {
            Mode::Log => Vec::new(),
            _ => {
                let longest = tier.windows.iter().map(Window::millis).max().unwrap_or(0);
                vec![value::layout(mode, tier), decimal(mode.life(longest))]
            }
        };
        let horizon = (mode == Mode::Log).then(|| decimal(tier.horizon));
        let windows = tier.windows.iter().flat_map(|window| match mode {
            Mode::Log => vec![decimal(window.millis()), decimal(window.limit())],
            Mode::Gcra => vec![decimal(window.limit()), decimal(window.most_at_once())],
            Mode::Strict | Mode::Sliding => vec![decimal(window.limit())],
        });
        Self { before, after: horizon.into_iter().chain(windows).collect() }
    }

    fn around<'a>(&'a self, asked: impl IntoIterator<Item = Word<'a>>) -> Vec<Word<'a>> {
        let mut words = Vec::with_capacity(self.before.len() + 5 + self.after.len());
        words.extend(self.before.iter().map(|word| Word::from(word.as_slice())));
        words.extend(asked);
        words.extend(self.after.iter().map(|word| Word::from(word.as_slice())));
        words
    }
}

pub(in crate::limiter) fn check(mode: Mode, ask: Ask<'_>) -> Vec<Word<'_>> {
    let cost = if ask.cost == 1 { Word::from(&b"1"[..]) } else { decimal(ask.cost).into() };
    let take = if ask.take { &b"1"[..] } else { b"0" };
    preface(mode, ask.tier).around([cost, take.into()])
}

/// Where to correct what, and the channel and message for those who remember a refusal.
pub(in crate::limiter) fn settle<'a>(
    mode: Mode,
    settlement: Settlement<'a>,
    hold: &'a [u8],
    [channel, message]: [&'a [u8]; 2],
) -> Vec<Word<'a>> {
    let Settlement { tier, reserved, actual, .. } = settlement;
    let costs = [reserved, actual].map(|cost| Word::from(decimal(cost)));
    preface(mode, tier).around([hold.into()].into_iter().chain(costs).chain([channel.into(), message.into()]))
}

fn preface(mode: Mode, tier: &Tier) -> &Preface {
    tier.preface.get_or_init(|| Preface::of(mode, tier))
}

/// Reads what the script of a check answers.
pub(in crate::limiter) fn verdict(mode: Mode, ask: Ask<'_>, reply: Reply) -> Option<Verdict> {
    match mode {
        Mode::Log => log_verdict(reply),
        mode => value::verdict(mode, ask, reply),
    }
}

fn decimal(number: u64) -> Vec<u8> {
    number.to_string().into_bytes()
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
        usage: usage.collect::<Option<Box<[_]>>>()?,
        hold: hold.clone().into_bytes().filter(|hold| !hold.is_empty()).map_or(Hold::Nowhere, Hold::Redis),
        applied: None,
        unreadable: number(readable)? == 0,
    })
}
