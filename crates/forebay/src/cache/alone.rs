//! What a flight does while the store cannot be asked.

use std::time::Duration;

use super::{
    backend::Reject,
    flights::Arrival,
    leader::Leader,
    load::Alone,
    verdict::{Answer, Outcome},
};

impl<V: Send + Sync + 'static> Leader<V> {
    /// Goes on although nothing could be read. A look-up may still get a lease that is this process's alone.
    pub(super) async fn go_without(&mut self, sent: Arrival) -> Outcome<V> {
        match self.remembered(sent) {
            Some(outcome) => outcome,
            None if self.loads() => self.load_alone(Alone::Locally).await,
            None => self.acquire(Reject::Nothing).await,
        }
    }

    /// What process memory still has for those who can use it, while the store cannot be asked: also what it
    /// does not trust, and what it would ask for again. A stale value is offered only.
    fn remembered(&mut self, sent: Arrival) -> Option<Outcome<V>> {
        if self.fresh || self.behind {
            return None;
        }
        match self.inner.last_resort(&self.id.key)? {
            Answer::Present(entry) if entry.is_stale() => {
                self.flight.offer(entry.clone(), sent);
                if !self.inner.options.refresh.serves_stale() {
                    return None;
                }
                if self.loads() {
                    self.refresh_behind(entry.clone(), sent, Duration::ZERO);
                }
                Some(Outcome::Read { answer: Answer::Present(entry), sent, waited: false })
            }
            Answer::Absent if !self.takes_absence() => None,
            answer => Some(Outcome::Read { answer, sent, waited: false }),
        }
    }
}
