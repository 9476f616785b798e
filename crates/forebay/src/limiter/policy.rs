//! The tiers of one limiter as they are in force, checked against its mode.

#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::{
    decision::Decision,
    mode::Mode,
    quota::{Quota, Usage},
    redis::words::Preface,
    tiers::Tiers,
    window::Window,
};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
};

/// What a sorted set may hold without holding up everybody else.
const MOST_LOGGED: u64 = 10_000;

/// A subject may have windows of every tier in its value, also of those before a replacement.
const MOST_LENGTHS: usize = 32;

/// Integers up to here are exact in a script.
const EXACT: u64 = 1 << 53;

/// One tier of one policy.
#[derive(Debug)]
pub(crate) struct Tier {
    pub(crate) policy: Name,
    pub(crate) name: Name,
    pub(crate) windows: Box<[Window]>,
    /// The longest window of the policy in ms: a subject may come back in another tier.
    pub(crate) horizon: u64,
    /// What scripts are told of it, once one was asked.
    pub(super) preface: OnceLock<Preface>,
}

/// The tiers in force.
#[derive(Debug)]
pub(super) struct Policy {
    /// Few enough to be looked through.
    tiers: Vec<Arc<Tier>>,
    lowest: Arc<Tier>,
}

impl Policy {
    pub(super) fn new(policy: &Name, mode: Mode, lowest: &str, tiers: Tiers) -> Result<Self, Error> {
        let list = tiers.into_list();
        let horizon = list.iter().flat_map(|(_, windows)| windows).map(Window::millis).max().unwrap_or(0);
        let tiers = list.into_iter().map(|(name, windows)| {
            let tier = Tier::new(policy.clone(), name, windows, horizon);
            tier.windows.iter().try_for_each(|window| tier.fits(mode, window))?;
            Ok(Arc::new(tier))
        });
        let tiers: Vec<_> = tiers.collect::<Result<_, Error>>()?;
        let lengths: BTreeSet<u64> =
            tiers.iter().flat_map(|tier| &tier.windows).map(Window::millis).collect();
        if lengths.len() > MOST_LENGTHS {
            let why = format!("policy {policy} has windows of {} lengths; the most are 32", lengths.len());
            return Err(Error::new(ErrorKind::Config, why));
        }
        let Some(lowest) = find(&tiers, lowest).cloned() else {
            let remedy = "add that tier, or name another with lowest()";
            let why =
                format!("policy {policy} has no tier {lowest:?} for callers of an unknown one: {remedy}");
            return Err(Error::new(ErrorKind::Config, why));
        };
        Ok(Self { tiers, lowest })
    }

    pub(super) fn tiers(&self) -> &[Arc<Tier>] {
        &self.tiers
    }

    /// A tier with a window of every length that something is counted in, each with its largest limit.
    pub(super) fn widest(&self) -> Tier {
        let windows = self.tiers.iter().flat_map(|tier| &tier.windows).copied();
        let mut windows: Vec<Window> = windows.filter(|window| window.limit() > 0).collect();
        windows.sort_by_key(|window| (window.millis(), Reverse(window.limit())));
        windows.dedup_by_key(|window| window.millis());
        self.lowest.with(windows)
    }

    /// The tier called `name`; without one, the lowest.
    pub(super) fn tier(&self, name: &str) -> Result<&Arc<Tier>, &Arc<Tier>> {
        find(&self.tiers, name).ok_or(&self.lowest)
    }
}

fn find<'a>(tiers: &'a [Arc<Tier>], name: &str) -> Option<&'a Arc<Tier>> {
    tiers.iter().find(|tier| tier.name.as_str() == name)
}

impl Tier {
    pub(super) fn new(policy: Name, name: Name, windows: impl Into<Box<[Window]>>, horizon: u64) -> Self {
        Self { policy, name, windows: windows.into(), horizon, preface: OnceLock::new() }
    }

    fn with(&self, windows: Vec<Window>) -> Self {
        Self::new(self.policy.clone(), self.name.clone(), windows, self.horizon)
    }

    /// Both tiers in one: every window of either, of two with one length the smaller.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut windows: Vec<Window> = self.windows.iter().chain(&other.windows).copied().collect();
        windows.sort_by_key(|window| (window.millis(), window.limit()));
        windows.dedup_by_key(|window| window.millis());
        self.with(windows)
    }

    /// What needs no look at what was taken: no limit at all, a limit of zero, or a cost above one.
    pub(super) fn foregone(self: &Arc<Self>, cost: u64) -> Option<Decision> {
        if self.windows.is_empty() {
            return Some(Decision::Allowed(Quota::whole(self.clone())));
        }
        if let Some(window) =
            self.windows.iter().filter(|window| window.limit() == 0).max_by_key(|w| w.millis())
        {
            let (quota, retry_after) = (Quota::new(self.clone(), self.unused(), 1), window.length());
            return Some(Decision::Denied { quota, retry_after });
        }
        let limit = self.most_at_once();
        (cost > limit).then_some(Decision::NeverFits { limit })
    }

    /// The largest cost that can ever fit.
    pub(super) fn most_at_once(&self) -> u64 {
        self.windows.iter().map(Window::most_at_once).min().unwrap_or(u64::MAX)
    }

    /// This tier for one of several processes that share it.
    pub(super) fn share(&self, of: u64) -> Self {
        self.with(self.windows.iter().map(|window| window.share(of)).collect())
    }

    /// A window that allows nothing is told as if it came back at its end.
    fn unused(&self) -> Box<[Usage]> {
        let rest = |window: &Window| if window.limit() == 0 { window.length() } else { Duration::ZERO };
        self.windows.iter().map(|window| Usage { used: 0, rest: rest(window) }).collect()
    }

    /// Refuses what the mode cannot count exactly, or not cheaply.
    fn fits(&self, mode: Mode, window: &Window) -> Result<(), Error> {
        let (limit, millis) = (window.limit(), window.millis());
        let exact = limit.checked_mul(millis).is_some_and(|product| product <= EXACT);
        let burst_fits = window.own_burst().is_none_or(|burst| (1..=limit).contains(&burst));
        let why = match mode {
            Mode::Log if limit > MOST_LOGGED => {
                "the mode `log` remembers every call; above 10,000 use `strict`"
            }
            Mode::Log if self.logged() > MOST_LOGGED => {
                "the mode `log` remembers every call for as long as the longest window of the policy, and more than \
                 10,000 could come together; use `strict`, or give this tier a longer window"
            }
            Mode::Sliding | Mode::Gcra if !exact => {
                "limit times window in ms is above 2^53, which cannot be weighed exactly; use `strict`"
            }
            Mode::Gcra if !burst_fits => "the burst is from 1 to the limit",
            Mode::Strict | Mode::Sliding | Mode::Log if window.own_burst().is_some() => {
                "a burst is known in the mode `gcra` only"
            }
            _ => return Ok(()),
        };
        let Self { policy, name, .. } = self;
        Err(Error::new(
            ErrorKind::Config,
            format!("window {window} of tier {name} in policy {policy}: {why}"),
        ))
    }

    /// How many calls can be remembered of one subject.
    fn logged(&self) -> u64 {
        let within = |window: &Window| window.limit().saturating_mul(self.horizon.div_ceil(window.millis()));
        self.windows.iter().map(within).min().unwrap_or(0)
    }
}
