//! Instants that can be compared between the processes of one machine.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// An instant of the machine's monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment(pub u64);

impl Moment {
    /// This instant.
    ///
    /// # Panics
    ///
    /// If the machine has no monotonic clock.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock");
        Self(nanoseconds(time.into()))
    }

    /// This instant and `time` more.
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(time)))
    }

    /// This instant less `time`.
    pub fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(nanoseconds(time)))
    }

    /// How long `earlier` was before this; zero if it was not.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
