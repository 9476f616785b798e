//! How long loads take: of one value as far as that is known, else of the space.

use std::{collections::VecDeque, time::Duration};

use super::token::Token;
use crate::{
    clock::Moment,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// What a new measurement weighs: one load that was slow does not make a value one that is slow to load.
const WEIGHT: u32 = 4;

/// Leases in the hands of callers, of which a space remembers since when. Their loads are measured; those of others
/// are not.
const MOST: usize = 1_024;

/// The load times of one space.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Smoothed, in microseconds.
    mean: AtomicU64,
    leased: Mutex<VecDeque<Leased>>,
}

/// A lease in the hands of a caller.
#[derive(Debug)]
struct Leased {
    token: Token,
    since: Moment,
    /// What loads of its value have taken until now.
    before: Duration,
}

impl Pace {
    /// What loads of a value take, where it says so itself; of one that was not loaded, what others take.
    pub(crate) fn of(&self, load_time: Duration) -> Duration {
        if load_time.is_zero() { Duration::from_micros(self.mean.load(Relaxed)) } else { load_time }
    }

    /// Takes note that a load took so long. Answers what loads of its value take, which was `before` until now.
    pub(crate) fn note(&self, before: Duration, took: Duration) -> Duration {
        let mean = Duration::from_micros(self.mean.load(Relaxed));
        let mean = u64::try_from(smoothed(mean, took).as_micros()).unwrap_or(u64::MAX);
        self.mean.store(mean, Relaxed);
        smoothed(before, took)
    }

    /// A caller has the lease of `token` from `now` on, to load a value whose loads took `before`.
    pub(crate) fn lent(&self, token: Token, before: Duration, now: Moment) {
        let mut leased = self.leased.lock();
        if leased.len() == MOST {
            leased.pop_front();
        }
        leased.push_back(Leased { token, since: now, before });
    }

    /// The load under the lease of `token` has ended. Answers how long it took, where that is known.
    pub(crate) fn ended(&self, token: Token, now: Moment) -> Option<Took> {
        let mut leased = self.leased.lock();
        let at = leased.iter().position(|leased| leased.token == token)?;
        let Leased { since, before, .. } = leased.remove(at)?;
        Some(Took { span: now.since(since), before })
    }
}

/// How long a load took whose caller had the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Took {
    pub(crate) span: Duration,
    /// What loads of its value have taken until then.
    pub(crate) before: Duration,
}

fn smoothed(before: Duration, took: Duration) -> Duration {
    if before.is_zero() { took } else { before - before / WEIGHT + took / WEIGHT }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::Clock, dice::Dice};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_slow_load_counts_for_a_quarter() {
        let pace = Pace::default();
        assert_eq!(pace.note(Duration::ZERO, SECOND), SECOND);
        assert_eq!(pace.note(SECOND, SECOND * 5), SECOND * 2);
        assert_eq!((pace.of(Duration::ZERO), pace.of(SECOND * 9)), (SECOND * 2, SECOND * 9));
    }

    #[test]
    fn a_lease_is_measured_once_from_when_it_was_lent() {
        let (pace, (clock, time), token) = (Pace::default(), Clock::manual(), Token::roll(&Dice::seeded(1)));
        pace.lent(token, Duration::ZERO, clock.now());
        time.advance(SECOND * 3);
        let took = Took { span: SECOND * 3, before: Duration::ZERO };
        assert_eq!(pace.ended(token, clock.now()), Some(took));
        assert_eq!(pace.ended(token, clock.now()), None);
    }

    #[test]
    fn of_very_many_leases_the_oldest_are_not_measured() {
        let (pace, (clock, _), dice) = (Pace::default(), Clock::manual(), Dice::seeded(1));
        for _ in 0..MOST * 2 {
            pace.lent(Token::roll(&dice), Duration::ZERO, clock.now());
        }
        assert_eq!(pace.leased.lock().len(), MOST);
    }
}
