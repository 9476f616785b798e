//! Leaves a failing origin alone: after so many failures within a window, loads are refused for a while.

use std::{collections::VecDeque, time::Duration};

use super::inner::Inner;
use crate::{
    clock::{Clock, Moment},
    observe::Event,
    sync::Mutex,
};

/// When the origin of a space is left alone.
///
/// After the pause one load probes the origin: its success closes the breaker, its failure opens it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginBreaker {
    /// How many loads must fail within `window`; those of one call of a batch loader are one.
    pub failures: usize,
    /// The time in which failures are counted.
    pub window: Duration,
    /// For how long loads are refused.
    pub pause: Duration,
}

/// The breaker of one space.
#[derive(Debug)]
pub(crate) struct Breaker {
    rule: OriginBreaker,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Closed { failures: VecDeque<Moment> },
    Open { until: Moment },
    Probing { until: Moment },
}

impl Breaker {
    pub(crate) fn new(rule: OriginBreaker, clock: Clock) -> Self {
        Self { rule, clock, state: Mutex::new(State::Closed { failures: VecDeque::new() }) }
    }

    /// How long loads are still refused; `None` while one may go ahead.
    pub(crate) fn opens_in(&self) -> Option<Duration> {
        match *self.state.lock() {
            State::Closed { .. } => None,
            State::Open { until } | State::Probing { until } => {
                Some(until.since(self.clock.now())).filter(|left| !left.is_zero())
            }
        }
    }

    /// Lets a load go ahead, or returns when to try again. A load that may calls [`Self::record`] at its end.
    pub(crate) fn admit(&self) -> Result<(), Duration> {
        let now = self.clock.now();
        let state = &mut *self.state.lock();
        match state {
            State::Closed { .. } => Ok(()),
            State::Open { until } | State::Probing { until } if *until > now => Err(until.since(now)),
            // A probe that never reported, perhaps because it was cancelled, makes way for another.
            State::Open { .. } | State::Probing { .. } => {
                *state = State::Probing { until: now.after(self.rule.pause) };
                Ok(())
            }
        }
    }

    /// Takes note of how a load ended. Returns whether this opened the breaker.
    pub(crate) fn record(&self, succeeded: bool) -> bool {
        let now = self.clock.now();
        let state = &mut *self.state.lock();
        if succeeded {
            // Only a probe speaks for the present: a load that succeeds while it is open began before that.
            if matches!(state, State::Probing { .. }) {
                *state = State::Closed { failures: VecDeque::new() };
            }
            return false;
        }
        let opens = match state {
            State::Closed { failures } => {
                failures.retain(|failed| now.since(*failed) < self.rule.window);
                failures.push_back(now);
                failures.len() >= self.rule.failures
            }
            State::Probing { .. } => true,
            State::Open { .. } => false,
        };
        if opens {
            *state = State::Open { until: now.after(self.rule.pause) };
        }
        opens
    }
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// Tells the breaker of the space, if it has one, how a load ended.
    pub(crate) fn origin_answered(&self, well: bool) {
        let Some(breaker) = &self.breaker else { return };
        if breaker.record(well) {
            let (space, pause) = (self.name.as_str(), breaker.rule.pause);
            self.record(Event::BreakerOpened { space, pause });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: OriginBreaker =
        OriginBreaker { failures: 2, window: Duration::from_secs(10), pause: Duration::from_secs(5) };

    #[test]
    fn failures_far_apart_do_not_open_it() {
        let (clock, manual) = Clock::manual();
        let breaker = Breaker::new(RULE, clock);
        assert!(!breaker.record(false));
        manual.advance(RULE.window);
        assert!(!breaker.record(false));
        assert_eq!(breaker.admit(), Ok(()));
    }

    #[test]
    fn after_the_pause_one_probe_goes_ahead() {
        let (clock, manual) = Clock::manual();
        let breaker = Breaker::new(RULE, clock);
        breaker.record(false);
        assert!(breaker.record(false));
        assert_eq!(breaker.admit(), Err(RULE.pause));
        manual.advance(RULE.pause);
        assert_eq!(breaker.admit(), Ok(()));
        assert_eq!(breaker.admit(), Err(RULE.pause));
        breaker.record(true);
        assert_eq!(breaker.admit(), Ok(()));
    }

    #[test]
    fn a_failing_probe_opens_it_again() {
        let (clock, manual) = Clock::manual();
        let breaker = Breaker::new(RULE, clock);
        breaker.record(false);
        breaker.record(false);
        manual.advance(RULE.pause);
        breaker.admit().unwrap();
        assert!(breaker.record(false));
        assert_eq!(breaker.admit(), Err(RULE.pause));
    }
}
