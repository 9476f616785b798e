//! The subscribers of one topic in one process, who share what is heard.

use bytes::Bytes;
use tokio::sync::{broadcast, watch};

use super::message::{Deaf, Heard, Message};
use crate::{
    redis::{Signal, Tuned},
    sync::Mutex,
};

/// How many messages wait for a subscriber that is slow; then it is given the newer ones, and told.
pub(super) const BUFFER: usize = 1024;

/// Whether the channel is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not yet, of which nobody was told.
    Tuning,
    Hearing,
    Deaf,
}

/// What is heard of a topic goes to all who subscribe: one copy, in a ring of bounded length.
#[derive(Debug)]
pub(super) struct Hub {
    heard: broadcast::Sender<Heard>,
    state: watch::Sender<State>,
    tuned: Mutex<Option<Tuned>>,
}

impl Hub {
    /// Of a store that is always heard.
    pub(super) fn hearing() -> Self {
        Self::with(State::Hearing)
    }

    /// Of a store that is not heard before it is [tuned](Hub::keep) to.
    pub(super) fn tuning() -> Self {
        Self::with(State::Tuning)
    }

    fn with(state: State) -> Self {
        let (heard, _) = broadcast::channel(BUFFER);
        Self { heard, state: watch::Sender::new(state), tuned: Mutex::new(None) }
    }

    /// Keeps the channel for as long as there is a subscriber.
    pub(super) fn keep(&self, tuned: Tuned) {
        *self.tuned.lock() = Some(tuned);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Heard> {
        self.heard.subscribe()
    }

    /// Completes once the channel is heard.
    pub(super) async fn hears(&self) {
        // The sender lives in this hub.
        self.state.subscribe().wait_for(|state| *state == State::Hearing).await.ok();
    }

    /// Whether a subscriber that has waited in vain has to be told; then it is told of the end, too.
    pub(super) fn is_deaf(&self) -> bool {
        self.state.send_if_modified(|state| {
            let was_tuning = *state == State::Tuning;
            if was_tuning {
                *state = State::Deaf;
            }
            was_tuning
        });
        *self.state.borrow() == State::Deaf
    }

    pub(super) fn signal(&self, signal: Signal<'_>) {
        match signal {
            Signal::Message(payload) => self.publish(Bytes::copy_from_slice(payload)),
            Signal::Confirmed => {
                if self.turn(State::Hearing, |_| true) == State::Deaf {
                    self.say(Heard::Deaf(Deaf::Over));
                }
            }
            Signal::Lost => {
                if self.turn(State::Deaf, |state| state == State::Hearing) == State::Hearing {
                    self.say(Heard::Deaf(Deaf::Begins));
                }
            }
        }
    }

    pub(super) fn publish(&self, payload: Bytes) {
        self.say(Heard::Message(Message::new(None, payload)));
    }

    /// What it was before.
    fn turn(&self, to: State, from: impl Fn(State) -> bool) -> State {
        let mut before = to;
        self.state.send_if_modified(|state| {
            before = *state;
            let turns = from(before) && before != to;
            if turns {
                *state = to;
            }
            turns
        });
        before
    }

    /// Whether somebody hears it makes no difference.
    fn say(&self, heard: Heard) {
        self.heard.send(heard).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(heard: &mut broadcast::Receiver<Heard>) -> Vec<Heard> {
        std::iter::from_fn(|| heard.try_recv().ok()).collect()
    }

    #[test]
    fn the_end_of_deafness_is_told_to_those_who_were_told_of_its_beginning() {
        let hub = Hub::tuning();
        let mut heard = hub.subscribe();
        hub.signal(Signal::Lost);
        hub.signal(Signal::Confirmed);
        hub.signal(Signal::Confirmed);
        assert_eq!(said(&mut heard), []);
        hub.signal(Signal::Lost);
        hub.signal(Signal::Lost);
        hub.signal(Signal::Confirmed);
        assert_eq!(said(&mut heard), [Heard::Deaf(Deaf::Begins), Heard::Deaf(Deaf::Over)]);
    }

    #[test]
    fn whoever_waited_in_vain_is_told_once_it_hears() {
        let hub = Hub::tuning();
        let mut heard = hub.subscribe();
        assert!(hub.is_deaf());
        hub.signal(Signal::Confirmed);
        assert!(!hub.is_deaf());
        assert_eq!(said(&mut heard), [Heard::Deaf(Deaf::Over)]);
    }
}
