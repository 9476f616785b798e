//! How long a holder may believe that it holds its lock: until a deadline that renewals move, and never again after.

use crate::{clock::Moment, sync::Mutex};

/// The belief of one holder. Once it was seen to be over, nothing revives it.
#[derive(Debug)]
pub(super) struct Tenure(Mutex<State>);

#[derive(Debug, Clone, Copy)]
struct State {
    until: Moment,
    over: bool,
}

impl State {
    fn end_if_due(&mut self, now: Moment) -> bool {
        self.over |= now >= self.until;
        self.over
    }
}

impl Tenure {
    pub(super) fn new(until: Moment) -> Self {
        Self(Mutex::new(State { until, over: false }))
    }

    /// Whether it is over, as of `now`.
    pub(super) fn is_over(&self, now: Moment) -> bool {
        self.0.lock().end_if_due(now)
    }

    /// Moves the deadline, which never comes closer; `false` where it was over before `now`.
    pub(super) fn prolong(&self, now: Moment, until: Moment) -> bool {
        let mut state = self.0.lock();
        if state.end_if_due(now) {
            return false;
        }
        state.until = state.until.max(until);
        true
    }

    /// Ends it.
    pub(super) fn end(&self) {
        self.0.lock().over = true;
    }

    pub(super) fn until(&self) -> Moment {
        self.0.lock().until
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::default().after(Duration::from_millis(millis))
    }

    #[test]
    fn a_renewal_moves_the_deadline_and_never_back() {
        let tenure = Tenure::new(at(100));
        assert!(tenure.prolong(at(50), at(150)));
        assert!(tenure.prolong(at(60), at(120)));
        assert_eq!(tenure.until(), at(150));
        assert!(!tenure.is_over(at(149)));
        assert!(tenure.is_over(at(150)));
    }

    // L14, L29: a renewal that comes late revives nothing.
    #[test]
    fn nothing_revives_what_was_over() {
        let tenure = Tenure::new(at(100));
        assert!(!tenure.prolong(at(100), at(200)));
        assert!(tenure.is_over(at(50)));

        let tenure = Tenure::new(at(100));
        tenure.end();
        assert!(!tenure.prolong(at(10), at(200)));
        assert!(tenure.is_over(at(10)));
    }
}
