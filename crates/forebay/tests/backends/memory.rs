//! Stamps every case for the memory store.

use std::time::Duration;

use forebay::{
    Forebay,
    clock::{Clock, Manual},
};

use crate::rig::Rig;

/// A `Forebay` on the memory store, on a clock that the rig moves.
pub(crate) struct MemoryRig {
    forebay: Forebay,
    time: Manual,
}

/// Time passes in steps, so that what is due in between happens in between.
const STEP: Duration = Duration::from_millis(25);

/// Of a long span no more than this share passes at a time: thirty days are not worth 25 ms steps.
const SHARE: u32 = 1000;

/// More than the tasks that one event sets in motion one after the other.
const TURNS: usize = 64;

impl MemoryRig {
    pub(crate) async fn new() -> Self {
        let (clock, time) = Clock::manual();
        let forebay = Forebay::builder("rig").memory().clock(clock).build().await.expect("nothing to refuse");
        Self { forebay, time }
    }
}

impl Rig for MemoryRig {
    fn forebay(&self) -> &Forebay {
        &self.forebay
    }

    async fn pass(&self, span: Duration) {
        let mut left = span;
        self.settle().await;
        while !left.is_zero() {
            let step = left.min(STEP.max(left / SHARE));
            self.time.advance(step);
            self.settle().await;
            left -= step;
        }
    }

    async fn settle(&self) {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
    }

    fn slack(&self) -> Duration {
        Duration::ZERO
    }
}

crate::cases::stamp!(crate::memory::MemoryRig);
crate::cases::limiter::stamp!(crate::memory::MemoryRig);
crate::cases::once::stamp!(crate::memory::MemoryRig);
crate::cases::topics::stamp!(crate::memory::MemoryRig);
crate::cases::unique::stamp!(crate::memory::MemoryRig);
crate::cases::lock::stamp!(crate::memory::MemoryRig);
crate::cases::filter::stamp!(crate::memory::MemoryRig);

/// What applies to no other store, for the reasons in `not_applicable.md`.
mod alone {
    crate::cases::stamp! { crate::memory::MemoryRig;
        shutdown: {
            what_is_in_the_store_is_read_afterwards,
        }
    }
}
