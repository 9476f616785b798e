//! The store of one process.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::ready};

use super::backend::{Answer, Ask, Backend, Freed, Verdict};
use crate::{
    clock::{Clock, Moment, time_of_day},
    expiring::{Expiring, Next},
    key::Keys,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    token::Token,
    wake::Wake,
};

/// A lock that somebody holds.
#[derive(Debug)]
struct Held {
    token: Token,
    fence: u64,
}

/// The locks of a process.
#[derive(Debug)]
pub(crate) struct Locks {
    held: Expiring<Held>,
    fences: Fences,
}

impl Locks {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { held: Expiring::new(clock.clone()), fences: Fences::new(clock) }
    }

    pub(crate) fn sweep(&self) {
        self.held.sweep();
    }
}

/// Fences that only grow, also from one run of a program to the next where the machine's clock does: they outlive it in
/// whatever they protect.
#[derive(Debug)]
struct Fences {
    clock: Clock,
    /// When the clock began, in microseconds since 1970.
    began: u64,
    last: AtomicU64,
}

impl Fences {
    fn new(clock: Clock) -> Self {
        let began = micros(time_of_day()).saturating_sub(micros(clock.now().since(Moment::default())));
        Self { clock, began, last: AtomicU64::new(0) }
    }

    fn next(&self) -> u64 {
        let now = self.began + micros(self.clock.now().since(Moment::default()));
        let above = |last: u64| now.max(last + 1);
        let last = self.last.fetch_update(SeqCst, SeqCst, |last| Some(above(last)));
        last.map_or(now, above)
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// The locks in this process.
#[derive(Debug)]
pub(super) struct MemoryBackend {
    pub(super) keys: Keys,
    pub(super) locks: Arc<Locks>,
    pub(super) wake: Wake,
}

impl MemoryBackend {
    fn acquire(&self, name: &str, ask: Ask) -> Verdict {
        self.locks.held.step(&self.keys.lock(name), |held| match held {
            Some((held, left)) if held.token == ask.token => {
                (Next::Prolong(ask.life.max(left)), Verdict::Granted { fence: held.fence })
            }
            Some((_, left)) => (Next::Keep, Verdict::Busy(left)),
            None => {
                let fence = self.locks.fences.next();
                (Next::Set(Held { token: ask.token, fence }, ask.life), Verdict::Granted { fence })
            }
        })
    }

    /// Does to the lock, if it is still the caller's, what `next` makes of the life that it has left.
    fn settle(&self, name: &str, token: Token, next: impl FnOnce(Duration) -> Next<Held>) -> bool {
        self.locks.held.step(&self.keys.lock(name), |held| match held {
            Some((held, left)) if held.token == token => (next(left), true),
            _ => (Next::Keep, false),
        })
    }
}

impl Backend for MemoryBackend {
    fn acquire<'a>(&'a self, name: &'a str, ask: Ask) -> Answer<'a, Verdict> {
        async move { Ok(self.acquire(name, ask)) }.boxed()
    }

    fn renew<'a>(&'a self, name: &'a str, token: Token, life: Duration) -> Answer<'a, bool> {
        ready(Ok(self.settle(name, token, |left| Next::Prolong(life.max(left))))).boxed()
    }

    fn release<'a>(&'a self, name: &'a str, token: Token) -> Answer<'a, bool> {
        let released = self.settle(name, token, |_| Next::Clear);
        if released {
            self.wake.wake(&self.wake_name(name));
        }
        ready(Ok(released)).boxed()
    }

    fn force_release<'a>(&'a self, name: &'a str) -> Answer<'a, Freed> {
        let was_held = self.locks.held.step(&self.keys.lock(name), |held| (Next::Clear, held.is_some()));
        if was_held {
            self.wake.wake(&self.wake_name(name));
        }
        ready(Ok(if was_held { Freed::Held } else { Freed::Nothing })).boxed()
    }

    fn wake_name(&self, name: &str) -> String {
        self.keys.lock(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_grow_although_time_stands_still() {
        let (clock, time) = Clock::manual();
        let fences = Fences::new(clock);
        let [first, second] = [fences.next(), fences.next()];
        time.advance(Duration::from_secs(1));
        let third = fences.next();
        assert!(first < second && second < third, "{first} {second} {third}");
        assert!(third - first >= 1_000_000);
    }

    #[test]
    fn fences_of_a_later_run_are_above() {
        let earlier = Fences::new(Clock::manual().0).next();
        std::thread::sleep(Duration::from_millis(2));
        assert!(Fences::new(Clock::manual().0).next() > earlier);
    }
}
