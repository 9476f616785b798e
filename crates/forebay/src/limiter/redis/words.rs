//! What the scripts are told, and what they answer.

use std::{sync::Arc, time::Duration};

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

pub(in crate::limiter) fn check(mode: Mode, ask: Ask<'_>) -> Vec<Vec<u8>> {
    let mut words = preface(mode, ask.tier);
    words.extend([decimal(ask.cost), decimal(ask.take)]);
    words.extend(horizon(mode, ask.tier));
    words.extend(windows(mode, ask.tier));
    words
}

/// Where to correct what, and the channel and message for those who remember a refusal.
pub(in crate::limiter) fn settle(
    mode: Mode,
    settlement: Settlement<'_>,
    hold: &[u8],
    announced: [&[u8]; 2],
) -> Vec<Vec<u8>> {
    let mut words = preface(mode, settlement.tier);
    words.extend([hold.to_vec(), decimal(settlement.reserved), decimal(settlement.actual)]);
    words.extend(announced.map(<[u8]>::to_vec));
    words.extend(horizon(mode, settlement.tier));
    words.extend(windows(mode, settlement.tier));
    words
}

/// Reads what the script of a check answers.
pub(in crate::limiter) fn verdict(mode: Mode, ask: Ask<'_>, reply: Reply) -> Option<Verdict> {
    match mode {
        Mode::Log => log_verdict(reply),
        mode => value::verdict(mode, ask, reply),
    }
}

/// What every script on packed windows begins with: their layout, and the life of what is written.
fn preface(mode: Mode, tier: &Tier) -> Vec<Vec<u8>> {
    if mode == Mode::Log {
        return Vec::new();
    }
    let longest = tier.windows.iter().map(Window::millis).max().unwrap_or(0);
    vec![value::layout(mode, tier), decimal(mode.life(longest))]
}

/// For how long a log is kept.
fn horizon(mode: Mode, tier: &Tier) -> Option<Vec<u8>> {
    (mode == Mode::Log).then(|| decimal(tier.horizon))
}

fn windows(mode: Mode, tier: &Tier) -> Vec<Vec<u8>> {
    let of = |window: &Window| match mode {
        Mode::Log => vec![decimal(window.millis()), decimal(window.limit())],
        Mode::Gcra => vec![decimal(window.limit()), decimal(window.most_at_once())],
        Mode::Strict | Mode::Sliding => vec![decimal(window.limit())],
    };
    tier.windows.iter().flat_map(of).collect()
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
