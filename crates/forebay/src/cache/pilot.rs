//! Who flies a flight: its first caller by itself, while it only reads and nobody else depends on it; else a task.
//!
//! A caller may be neither polled nor dropped for as long as it likes. So whoever depends on its flight takes that away
//! from it: who comes aboard, a shutdown, and the flight itself where it goes on after the read.

use std::{
    fmt,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    tasks::Tasks,
};

/// What a flight does from its beginning to its end.
pub(crate) type Way = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where a flight is flown from.
pub(crate) struct Helm {
    /// Whether no caller flies, nor will.
    released: AtomicBool,
    hold: Mutex<Hold>,
}

enum Hold {
    /// The pilot's. The way is here whenever the pilot does not poll it, with whom to wake if it is taken away.
    Pilot(Option<(Way, Waker)>),
    /// The pilot's until it lets go: then a task flies on. A shutdown waits for that.
    Wanted(#[expect(dead_code, reason = "held for its drop")] Option<TaskTrackerToken>),
    /// A task's; at the end nobody's.
    Released,
}

impl Helm {
    pub(crate) fn new() -> Self {
        Self { released: AtomicBool::new(false), hold: Mutex::new(Hold::Pilot(None)) }
    }

    /// Whether no caller flies, nor will.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(SeqCst)
    }

    /// Has a task fly all of `way`.
    pub(crate) fn hand_over(&self, way: impl Future<Output = ()> + Send + 'static, tasks: &Tasks) {
        drop(self.release());
        tasks.spawn(way);
    }

    /// Has whoever calls [`Helm::fly`] next fly `way`, unless somebody has come aboard already.
    pub(crate) fn begin(&self, way: Way, tasks: &Tasks) {
        // Where it was wanted before it was here, a task flies it.
        let _on_its_way = self.park(way, Waker::noop().clone(), tasks);
    }

    /// Flies as the pilot, until the flight has landed or a task flies it.
    ///
    /// Whoever drops this before that owes the flight a [`Helm::take_over`].
    pub(crate) async fn fly(&self, tasks: &Tasks) {
        poll_fn(|context| self.poll(context, tasks)).await;
    }

    fn poll(&self, context: &mut Context<'_>, tasks: &Tasks) -> Poll<()> {
        let Some(mut way) = self.seize() else { return Poll::Ready(()) };
        // As in a task, a panic is told to those aboard, by what it drops, and goes no further.
        let polled = match tasks.is_at_home() {
            true => catch_unwind(AssertUnwindSafe(|| way.as_mut().poll(context))),
            // What the way sleeps on is of another runtime than the caller's, who may have none.
            false => {
                drop(self.release());
                tasks.spawn(way);
                return Poll::Ready(());
            }
        };
        match polled {
            Ok(Poll::Pending) => self.park(way, context.waker().clone(), tasks),
            Ok(Poll::Ready(())) | Err(_) => {
                drop(self.release());
                Poll::Ready(())
            }
        }
    }

    /// Has a task fly on, at once or, while the pilot polls, as soon as it lets go.
    pub(crate) fn take_over(&self, tasks: &Tasks) {
        if self.is_released() {
            return;
        }
        let mut hold = self.hold.lock();
        if let Hold::Pilot(parked) = &mut *hold {
            match parked.take() {
                None => *hold = Hold::Wanted(Some(tasks.token())),
                Some((way, pilot)) => {
                    self.let_go(&mut hold);
                    drop(hold);
                    tasks.spawn(way);
                    pilot.wake();
                }
            }
        }
    }

    /// Completes once a task flies. A pilot that polls this lets go.
    pub(crate) async fn left_by_pilot(&self) {
        poll_fn(|_| {
            if self.is_released() {
                return Poll::Ready(());
            }
            let mut hold = self.hold.lock();
            if let Hold::Pilot(_) = &*hold {
                *hold = Hold::Wanted(None);
            }
            // The task that goes on polls again.
            Poll::Pending
        })
        .await;
    }

    /// Completes once a task flies, whatever the pilot does.
    pub(crate) async fn flown_by_task(&self) {
        poll_fn(|_| if self.is_released() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Takes the way, if it is the pilot's to fly.
    fn seize(&self) -> Option<Way> {
        match &mut *self.hold.lock() {
            Hold::Pilot(parked) => parked.take().map(|(way, _)| way),
            Hold::Wanted(_) | Hold::Released => None,
        }
    }

    /// Puts the way back, or has a task fly on where somebody wants that.
    fn park(&self, way: Way, pilot: Waker, tasks: &Tasks) -> Poll<()> {
        let mut hold = self.hold.lock();
        if let Hold::Pilot(parked) = &mut *hold {
            *parked = Some((way, pilot));
            return Poll::Pending;
        }
        let wanted = self.let_go(&mut hold);
        drop(hold);
        tasks.spawn(way);
        // Only now: without the task there is nothing that a shutdown would wait for.
        drop(wanted);
        Poll::Ready(())
    }

    fn release(&self) -> Hold {
        self.let_go(&mut self.hold.lock())
    }

    fn let_go(&self, hold: &mut Hold) -> Hold {
        self.released.store(true, SeqCst);
        std::mem::replace(hold, Hold::Released)
    }
}

impl fmt::Debug for Helm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Helm").field("released", &self.released).finish_non_exhaustive()
    }
}
