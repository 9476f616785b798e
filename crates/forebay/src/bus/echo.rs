//! How long the word of this process takes on its way through Redis and back.

use std::{collections::VecDeque, time::Duration};

use crate::sync::Mutex;

/// So many heartbeats are remembered that were not heard.
const OUTSTANDING: usize = 64;

/// The way of the own heartbeats, by readings of one clock.
#[derive(Debug, Default)]
pub(super) struct Echo(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The number of the last one that was sent.
    number: u64,
    /// Those that were not heard yet, nor any after them: their numbers, and when they were sent.
    outstanding: VecDeque<(u64, Duration)>,
    last: Duration,
}

impl Echo {
    /// Numbers a heartbeat that is about to be sent, from 1 on.
    pub(super) fn sent(&self, now: Duration) -> u64 {
        let mut state = self.0.lock();
        state.number += 1;
        if state.outstanding.len() >= OUTSTANDING {
            // The first one stays: it says since when nothing was heard.
            state.outstanding.remove(1);
        }
        let number = state.number;
        state.outstanding.push_back((number, now));
        number
    }

    /// Takes note that the heartbeat of this number came back. What came before it and has not is lost.
    pub(super) fn heard(&self, number: u64, now: Duration) {
        let mut state = self.0.lock();
        while let Some((_, sent)) = state.outstanding.pop_front_if(|(sent, _)| *sent <= number) {
            state.last = now.saturating_sub(sent);
        }
    }

    /// How long the last one took, or for how long by now one is waited for, whichever is longer.
    pub(super) fn lag(&self, now: Duration) -> Duration {
        let state = self.0.lock();
        let waits = state.outstanding.front().map_or(Duration::ZERO, |(_, sent)| now.saturating_sub(*sent));
        state.last.max(waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_not_heard_is_late_from_the_first_on() {
        let (echo, (clock, time)) = (Echo::default(), Clock::manual());
        assert_eq!(echo.lag(clock.reading()), Duration::ZERO);
        for _ in 0..OUTSTANDING + 9 {
            echo.sent(clock.reading());
            time.advance(SECOND);
        }
        let all = SECOND * u32::try_from(OUTSTANDING + 9).unwrap();
        assert_eq!(echo.lag(clock.reading()), all);
        assert_eq!(echo.0.lock().outstanding.len(), OUTSTANDING);
    }

    #[test]
    fn one_that_comes_back_says_how_long_it_took() {
        let (echo, (clock, time)) = (Echo::default(), Clock::manual());
        for way in [SECOND * 2, SECOND] {
            let number = echo.sent(clock.reading());
            time.advance(way);
            echo.heard(number, clock.reading());
            assert_eq!(echo.lag(clock.reading()), way);
        }
    }

    #[test]
    fn a_way_that_is_longer_than_what_is_between_two_is_told_in_full() {
        let (echo, (clock, time)) = (Echo::default(), Clock::manual());
        let way = 3;
        let mut under_way = VecDeque::new();
        for _ in 0..30 {
            under_way.push_back(echo.sent(clock.reading()));
            if under_way.len() > way {
                echo.heard(under_way.pop_front().unwrap(), clock.reading());
                assert_eq!(echo.lag(clock.reading()), SECOND * 3);
            }
            time.advance(SECOND);
        }
    }

    #[test]
    fn what_was_lost_on_the_way_is_waited_for_no_more_once_a_later_one_is_heard() {
        let (echo, (clock, time)) = (Echo::default(), Clock::manual());
        let lost = echo.sent(clock.reading());
        time.advance(SECOND * 60);
        let number = echo.sent(clock.reading());
        echo.heard(number, clock.reading());
        assert_eq!(echo.lag(clock.reading()), Duration::ZERO);
        time.advance(SECOND);
        // Once more, or out of order: it says nothing new.
        for stale in [number, lost] {
            echo.heard(stale, clock.reading());
            assert_eq!(echo.lag(clock.reading()), Duration::ZERO);
        }
    }
}
