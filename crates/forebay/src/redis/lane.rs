//! A connection to one node that is there again whenever it can be: the one task that connects, and what its
//! callers see of that.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Notify, watch};

use super::link::Link;

/// The pauses between attempts double from the first to the last.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(50);
pub(super) const LAST_PAUSE: Duration = Duration::from_millis(500);

/// What a caller can expect of a lane.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// A connection is being opened: worth to wait for, within the budget.
    Connecting,
    Ready(Arc<Link>),
    /// The node cannot be used; why.
    Down(Arc<str>),
}

/// The state of one lane, and the bell that makes it begin anew.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) state: watch::Sender<State>,
    pub(super) give_up: Notify,
}

impl Default for Lane {
    fn default() -> Self {
        Self { state: watch::Sender::new(State::Connecting), give_up: Notify::new() }
    }
}

impl Lane {
    /// The connection, if there is one at this moment.
    pub(super) fn ready(&self) -> Option<Arc<Link>> {
        match &*self.state.borrow() {
            State::Ready(link) => Some(link.clone()),
            State::Connecting | State::Down(_) => None,
        }
    }

    /// The connection, waited for while one is being opened; `but_not` is one that was lost.
    pub(super) async fn link(&self, but_not: Option<&Arc<Link>>) -> Option<Arc<Link>> {
        let stale = |link: &Arc<Link>| but_not.is_some_and(|other| Arc::ptr_eq(link, other));
        if let State::Ready(link) = &*self.state.borrow()
            && !stale(link)
        {
            return Some(link.clone());
        }
        let mut state = self.state.subscribe();
        let settled = state
            .wait_for(|state| match state {
                State::Connecting => false,
                State::Ready(link) => !stale(link),
                State::Down(_) => true,
            })
            .await;
        match settled.as_deref() {
            Ok(State::Ready(link)) => Some(link.clone()),
            _ => None,
        }
    }

    pub(super) fn set(&self, state: State) {
        self.state.send_replace(state);
    }

    pub(super) fn is_down(&self) -> bool {
        matches!(*self.state.borrow(), State::Down(_))
    }

    /// Why the lane is not in use.
    pub(super) fn reason(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Ready(_) => None,
            State::Connecting => Some("it is being connected".to_owned()),
            State::Down(reason) => Some(reason.to_string()),
        }
    }
}
