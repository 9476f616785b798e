//! One who takes part in a group.

use std::{collections::VecDeque, fmt, future::Future, sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::{
    Delivery, Id, Letter,
    backend::{Fetched, Look},
    desk::{Desk, Open},
    unavailable, workers,
};
use crate::{
    error::Error,
    redis::Unusable,
    topic::{
        home::Bell,
        tail::{PAUSE, POLL},
    },
};

/// The most messages that are fetched at once.
const MOST: usize = 64;

/// What came of a look.
enum Saw {
    /// There is something, or may be.
    Again,
    Nothing,
    Unasked,
}

/// One who is delivered the messages of a group.
///
/// One that is dropped leaves the group once all that it was delivered is settled, or the visibility over; what it was
/// not asked for goes to others at once. So does one whose `Forebay` shuts down, after half of the shutdown's budget at
/// the latest.
#[must_use = "a consumer that is dropped leaves the group"]
pub struct Consumer {
    desk: Arc<Desk>,
    bell: Bell,
    /// What was asked and is not answered yet, also when nobody waits for it at the moment.
    asked: Option<oneshot::Receiver<Result<Fetched, Unusable>>>,
    ready: VecDeque<Delivery>,
    has_looked: bool,
    own: Option<Id>,
    counts: bool,
    claim: Id,
}

impl Consumer {
    pub(super) fn begin(desk: Arc<Desk>) -> Self {
        let bell = desk.topic.home.0.bell(&desk.topic.name);
        let (ready, own) = (VecDeque::new(), Some(Id::BEGINNING));
        Self { desk, bell, asked: None, ready, has_looked: false, own, counts: true, claim: Id::BEGINNING }
    }

    /// Waits for the next message; `None` once the `Forebay` shuts down. A call that is dropped loses nothing.
    pub async fn next(&mut self) -> Option<Delivery> {
        self.next_many(1).await.pop()
    }

    /// Waits for the next messages, at most `most` and no more than 64; none once the `Forebay` shuts down. A call that
    /// is dropped loses nothing.
    pub async fn next_many(&mut self, most: usize) -> Vec<Delivery> {
        let most = most.clamp(1, MOST);
        let tasks = self.desk.tasks().clone();
        while self.ready.is_empty() {
            let looked = tokio::select! {
                biased;
                () = tasks.stopping() => return Vec::new(),
                looked = self.look(most) => looked,
            };
            match looked {
                Saw::Again => {}
                Saw::Nothing => self.wait(POLL).await,
                Saw::Unasked => pause(&self.desk).await,
            }
        }
        let some = self.ready.len().min(most);
        self.ready.drain(..some).collect()
    }

    /// Has every message handled, `concurrency` at a time, until the `Forebay` shuts down and what is being handled
    /// then is done.
    ///
    /// A handler that succeeds acknowledges its message; one that fails or panics returns it. While it runs, the
    /// message stays its own. To stop earlier, drop the future: what is being handled is returned.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn run(billing: forebay::topic::Group) {
    /// let consumer = billing.consumer("host-1");
    /// consumer.for_each(8, async |order| charge(&order.payload).await).await;
    /// # }
    /// # async fn charge(_: &[u8]) -> Result<(), std::io::Error> { Ok(()) }
    /// ```
    pub async fn for_each<E, F, Fut>(self, concurrency: usize, handler: F)
    where
        F: Fn(Letter) -> Fut,
        Fut: Future<Output = Result<(), E>>,
        E: fmt::Display,
    {
        workers::run(self, concurrency, handler).await;
    }

    /// Leaves the group: waits at most `within` until all that was delivered is settled, and hands the rest over to
    /// others.
    ///
    /// # Errors
    ///
    /// The store cannot be asked: others get the rest once the visibility is over.
    pub async fn leave(self, within: Duration) -> Result<(), Error> {
        let desk = self.desk.clone();
        *desk.patience.lock() = within;
        drop(self);
        let longest = within.saturating_add(desk.topic.home.0.patience() * 2);
        let left = desk.clock().timeout(longest, desk.left.cancelled()).await;
        left.ok_or_else(unavailable)
    }

    async fn look(&mut self, most: usize) -> Saw {
        let Self { own, counts, claim, .. } = *self;
        let look = Look { most, is_first: !self.has_looked, own, counts, claim };
        let fetched = self.asked.get_or_insert_with(|| ask(&self.desk, look)).await;
        self.asked = None;
        let Ok(Ok(fetched)) = fetched else {
            // It may have been given something that it does not know of.
            if *self.desk.open.borrow() == 0 {
                (self.own, self.counts) = (Some(Id::BEGINNING), false);
            }
            return Saw::Unasked;
        };
        (self.has_looked, self.own, self.claim) = (true, fetched.own, fetched.claim);
        let desk = &self.desk;
        self.ready.extend(fetched.letters.into_iter().map(|letter| Delivery::of(letter, desk)));
        let all = self.own.is_none() && self.claim == Id::BEGINNING;
        if all && self.ready.is_empty() { Saw::Nothing } else { Saw::Again }
    }

    /// Waits for news, and no longer than `most`.
    async fn wait(&mut self, most: Duration) {
        let tasks = self.desk.tasks().clone();
        tokio::select! {
            biased;
            () = tasks.stopping() => {}
            _ = self.desk.clock().timeout(most, self.bell.rung()) => {}
        }
    }
}

/// Looks whether or not anybody waits for it: what is given to a consumer that has gone is given back.
fn ask(desk: &Arc<Desk>, look: Look) -> oneshot::Receiver<Result<Fetched, Unusable>> {
    let (answer, asked) = oneshot::channel();
    let (open, desk) = (Open::at(desk), desk.clone());
    desk.tasks().clone().spawn(async move {
        let fetched = desk.fetch(look).await;
        drop(open);
        if let Err(Ok(unwanted)) = answer.send(fetched) {
            let given = unwanted.letters.into_iter().map(|letter| Delivery::of(letter, &desk));
            given.for_each(Delivery::put_back);
        }
    });
    asked
}

/// Waits a moment before a store is asked again that could not be.
async fn pause(desk: &Desk) {
    tokio::select! {
        () = desk.tasks().stopping() => {}
        () = desk.clock().sleep(PAUSE) => {}
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.ready.drain(..).for_each(Delivery::put_back);
        self.desk.parted.cancel();
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("seat", &self.desk.seat).finish_non_exhaustive()
    }
}
