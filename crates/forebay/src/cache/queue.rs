//! How a flight waits for somebody else's lease: woken, and with a check now and then in case a wake is lost.

use std::time::Duration;

use super::inner::Inner;
use crate::{
    clock::{Clock, Moment},
    dice::Dice,
    tasks::Tasks,
    wake::{Listener, Wake},
};

const FIRST_CHECK: Duration = Duration::from_millis(50);
const LATER_CHECKS: Duration = Duration::from_millis(250);
const LAST_CHECKS: Duration = Duration::from_millis(500);

/// The wait of one flight, one check per process and key however many callers it has.
pub(crate) struct Queue<'a> {
    clock: &'a Clock,
    dice: &'a Dice,
    tasks: &'a Tasks,
    wake: &'a Wake,
    name: String,
    until: Moment,
    check: Duration,
    listener: Option<Listener>,
}

/// What to do after a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Ask for the lease again.
    Again,
    /// The whole wait is over.
    Over,
    /// The `Forebay` shuts down.
    Stopping,
}

impl<'a> Queue<'a> {
    pub(crate) fn new<V: Send + Sync + 'static>(inner: &'a Inner<V>, key: &str) -> Self {
        let context = &inner.shared.context;
        Self {
            clock: &context.clock,
            dice: &context.dice,
            tasks: &context.tasks,
            wake: &context.wake,
            name: inner.backend.wake_name(key),
            until: context.clock.now().after(inner.options.wait),
            check: FIRST_CHECK,
            listener: None,
        }
    }

    /// Whether a wake would be heard.
    pub(crate) fn is_listening(&self) -> bool {
        self.listener.is_some() && self.wake.hears()
    }

    /// Waits until it is worth while to ask again for a lease that ends in `left` unless renewed.
    pub(crate) async fn turn(&mut self, left: Duration) -> Turn {
        let Some(listener) = &mut self.listener else {
            // What ended before this listens is only seen by asking once more.
            self.listener = Some(self.wake.listen(&self.name));
            return if self.tasks.is_stopping() { Turn::Stopping } else { Turn::Again };
        };
        let remaining = self.until.since(self.clock.now());
        if remaining.is_zero() {
            return Turn::Over;
        }
        let check = self.check.mul_f64(1.0 + 0.1 * self.dice.swing());
        self.check = if self.check == FIRST_CHECK { LATER_CHECKS } else { LAST_CHECKS };
        let pause = check.min(left.max(Duration::from_millis(1))).min(remaining);
        tokio::select! {
            () = listener.woken() => Turn::Again,
            () = self.clock.sleep(pause) => Turn::Again,
            () = self.tasks.stopping() => Turn::Stopping,
        }
    }
}
