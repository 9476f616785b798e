//! What an operator should do about a server.

use std::{fmt, time::Duration};

use super::{
    figures::Figures,
    rating::{Rating, fragmentation},
};

/// Something about Redis that is not as it should be. Its text says why, and what to do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Advice {
    /// At its memory limit it gives up keys on which locks, idempotency keys or limits rely, which are in use.
    Evicts {
        /// Its policy.
        policy: String,
    },
    /// It has no memory limit, so that the machine decides what happens when memory runs out.
    NoMemoryLimit,
    /// Its memory is nearly full.
    NearlyFull {
        /// How much of the limit is in use, in percent.
        percent: f64,
    },
    /// It has just evicted keys.
    HasEvicted {
        /// How many in the last minute or two.
        keys: u64,
    },
    /// It has just refused connections.
    HasRejected {
        /// How many in the last minute or two.
        connections: u64,
    },
    /// Much of what it occupies is not in use.
    Fragmented {
        /// Resident bytes for each in use.
        ratio: f64,
    },
    /// Part of its memory is on disk.
    SwappedOut,
    /// There will soon be no room for further connections.
    ManyConnections {
        /// How many of those that there may be, in percent.
        percent: f64,
    },
    /// Its last snapshot, or its last write to its log, failed: by default it then refuses all writes.
    CannotSave,
    /// Its clock is far from that of this machine.
    ClockDiffers {
        /// By how much.
        by: Duration,
    },
    /// Keys of the application have no expiry, though none is ever written so.
    Permanent {
        /// How many were found.
        keys: usize,
    },
}

/// Above this share of its limit, in percent, memory is said to be nearly full, and connections to be many.
pub(super) const FULL: f64 = 80.0;

/// Clocks further apart than this are worth a word: days begin by the one of the server.
pub(super) const APART: Duration = Duration::from_secs(2);

const UNLIMITED: &str = "Redis has no memory limit, so the machine ends it when memory runs out";
const SWAPPED: &str = "more than 100 MiB of Redis are swapped out, which makes it slow";
const UNSAVED: &str = "Redis could not save its data, and by default refuses writes then";

/// Of what recent counters tell.
const LATELY: &str = "in the last minute or two";

impl Advice {
    /// What `figures` give reason for; `relied_on` says whether keys matter that cannot be loaded again.
    pub(super) fn about(figures: &Figures, relied_on: bool) -> Vec<Self> {
        let memory = &figures.memory;
        let evicts = memory.policy.clone().filter(|policy| policy != "noeviction" && relied_on);
        let connections = figures.clients.percent_used().filter(|percent| *percent > FULL);
        let saved = &figures.persistence;
        let cannot_save = saved.snapshot_ok == Some(false) || saved.append_ok == Some(false);
        let clock = figures.clock.filter(|clock| clock.by > APART + clock.error);
        let is_poor = fragmentation(memory) == Some(Rating::Poor);
        let fragmented = memory.fragmentation.filter(|_| is_poor);
        [
            evicts.map(|policy| Self::Evicts { policy }),
            (memory.limit == Some(0)).then_some(Self::NoMemoryLimit),
            nearly_full(figures).map(|percent| Self::NearlyFull { percent }),
            connections.map(|percent| Self::ManyConnections { percent }),
            cannot_save.then_some(Self::CannotSave),
            clock.map(|clock| Self::ClockDiffers { by: clock.by }),
            fragmented.map(Self::on_fragmentation),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What is to be done about fragmentation that was rated poor.
    fn on_fragmentation(ratio: f64) -> Self {
        if ratio < 1.0 { Self::SwappedOut } else { Self::Fragmented { ratio } }
    }

    /// Its name in machine-readable output.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Evicts { .. } => "evicts",
            Self::NoMemoryLimit => "no_memory_limit",
            Self::NearlyFull { .. } => "nearly_full",
            Self::HasEvicted { .. } => "has_evicted",
            Self::HasRejected { .. } => "has_rejected",
            Self::Fragmented { .. } => "fragmented",
            Self::SwappedOut => "swapped_out",
            Self::ManyConnections { .. } => "many_connections",
            Self::CannotSave => "cannot_save",
            Self::ClockDiffers { .. } => "clock_differs",
            Self::Permanent { .. } => "permanent_keys",
        }
    }
}

/// How full the memory of a server is, in percent, if it is nearly full.
pub(super) fn nearly_full(figures: &Figures) -> Option<f64> {
    figures.memory.percent_used().filter(|percent| *percent > FULL)
}

/// The most pressing first; of what several nodes give reason for, the worst.
pub(super) fn ranked(mut advice: Vec<Advice>) -> Vec<Advice> {
    advice.sort_by(|a, b| a.rank().cmp(&b.rank()).then(b.extent().total_cmp(&a.extent())));
    advice.dedup_by_key(|advice| advice.rank());
    advice
}

impl Advice {
    /// How many others are more pressing: what fails by now, what is about to, what will some day, what costs.
    fn rank(&self) -> u8 {
        match self {
            Self::CannotSave => 0,
            Self::HasEvicted { .. } => 1,
            Self::HasRejected { .. } => 2,
            Self::NearlyFull { .. } => 3,
            Self::ManyConnections { .. } => 4,
            Self::SwappedOut => 5,
            Self::ClockDiffers { .. } => 6,
            Self::Evicts { .. } => 7,
            Self::NoMemoryLimit => 8,
            Self::Permanent { .. } => 9,
            Self::Fragmented { .. } => 10,
        }
    }

    /// How bad it is, beside the same of another node.
    #[expect(clippy::cast_precision_loss, reason = "a comparison needs no 53 bits")]
    fn extent(&self) -> f64 {
        match self {
            Self::NearlyFull { percent } | Self::ManyConnections { percent } => *percent,
            Self::HasEvicted { keys: count } | Self::HasRejected { connections: count } => *count as f64,
            Self::Permanent { keys } => *keys as f64,
            Self::Fragmented { ratio } => *ratio,
            Self::ClockDiffers { by } => by.as_secs_f64(),
            Self::Evicts { .. } | Self::NoMemoryLimit | Self::SwappedOut | Self::CannotSave => 0.0,
        }
    }

    fn reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evicts { policy } => {
                write!(
                    f,
                    "at its memory limit Redis gives up keys by `{policy}`, locks, idempotency keys and limits among them"
                )
            }
            Self::NoMemoryLimit => f.write_str(UNLIMITED),
            Self::NearlyFull { percent } => {
                write!(f, "Redis uses {percent:.0} % of its memory limit; beyond it writes are refused")
            }
            Self::HasEvicted { keys } => write!(f, "Redis has evicted {keys} keys {LATELY}"),
            Self::HasRejected { connections } => {
                write!(f, "Redis has refused {connections} connections {LATELY}")
            }
            Self::Fragmented { ratio } => {
                write!(f, "Redis occupies {ratio:.1} times what it uses, by more than 100 MiB")
            }
            Self::SwappedOut => f.write_str(SWAPPED),
            Self::ManyConnections { percent } => {
                write!(f, "{percent:.0} % of the connections that Redis allows are taken")
            }
            Self::CannotSave => f.write_str(UNSAVED),
            Self::ClockDiffers { by } => {
                write!(f, "the clocks of Redis and of this machine are {:.1} s apart", by.as_secs_f64())
            }
            Self::Permanent { keys } => {
                write!(
                    f,
                    "keys of this application that never end: {keys}; something else has written or PERSISTed them"
                )
            }
        }
    }

    fn remedy(&self) -> &'static str {
        match self {
            Self::Evicts { .. } => "CONFIG SET maxmemory-policy noeviction",
            Self::NoMemoryLimit => "CONFIG SET maxmemory, to less than the machine has",
            Self::NearlyFull { .. } | Self::HasEvicted { .. } => "raise maxmemory, or shorten lives",
            Self::HasRejected { .. } | Self::ManyConnections { .. } => {
                "raise maxclients, or look who connects (CLIENT LIST)"
            }
            Self::Fragmented { .. } => "CONFIG SET activedefrag yes, or restart it",
            Self::SwappedOut => "give the machine more memory, or Redis less",
            Self::CannotSave => "look into its log, and for space on its disk",
            Self::ClockDiffers { .. } => "keep both by NTP",
            Self::Permanent { .. } => "look whose they are, then DEL them",
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason(f)?;
        write!(f, ": {}", self.remedy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_pressing_comes_first_and_of_each_the_worst() {
        let full = |percent| Advice::NearlyFull { percent };
        let all = vec![
            Advice::NoMemoryLimit,
            full(81.0),
            Advice::Evicts { policy: "a".into() },
            full(97.0),
            full(90.0),
        ];
        let expected = [full(97.0), Advice::Evicts { policy: "a".into() }, Advice::NoMemoryLimit];
        assert_eq!(ranked(all), expected);
    }
}
