//! How a lock is had: in the order of coming within this process, and by hints and patience between processes.

use std::{pin::pin, sync::Arc, time::Duration};

use futures::FutureExt;

use super::{
    backend::{Ask, Verdict},
    error::{LockError, late, stopping, unavailable, unconfirmed},
    grip::Grip,
    guard::Guard,
    hold::Hold,
    home::Inner,
    keeper::Keeper,
    options::Options,
    queue::Ticket,
    tally::{Counted, Tally},
};
use crate::{
    clock::Moment,
    error::Error,
    observe::{Event, LockOutcome},
    token::Token,
};

/// How often the store is asked at most, other than upon a wake.
const PAUSE: Duration = Duration::from_millis(250);

/// How long a wake is waited for where wakes are heard: each is a hint that may be lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why a question has not brought the lock.
pub(super) enum NotHad {
    /// Somebody else holds it, for so long at least.
    Busy(Duration),
    /// The store cannot be asked: nobody else needs to try.
    Unasked,
    /// For a reason of this caller alone.
    Refused(Error),
}

impl From<NotHad> for LockError {
    fn from(why: NotHad) -> Self {
        match why {
            NotHad::Busy(left) => Self::Busy { retry_after: left.max(Duration::from_millis(1)) },
            NotHad::Unasked => Self::Unavailable(unavailable()),
            NotHad::Refused(error) => Self::Unavailable(error),
        }
    }
}

/// One caller who wants one lock.
pub(super) struct Contest<'a> {
    inner: &'a Arc<Inner>,
    name: &'a Arc<str>,
    options: &'a Options,
    token: Token,
    until: Moment,
}

/// Whether a caller counts among those that wait: once it has found that it has to.
struct Waits<'a> {
    tally: &'a Tally,
    counted: Option<Counted>,
}

impl Waits<'_> {
    fn count(&mut self) {
        self.counted.get_or_insert_with(|| self.tally.enter());
    }
}

impl<'a> Contest<'a> {
    pub(super) fn new(inner: &'a Arc<Inner>, name: &'a Arc<str>, options: &'a Options) -> Self {
        let token = options.token.unwrap_or_else(|| Token::roll(&inner.dice));
        Self { inner, name, options, token, until: inner.clock.now().after(options.wait) }
    }

    /// Tries once.
    pub(super) async fn attempt(&self) -> Result<Guard, NotHad> {
        self.inner.told(self.ask(false).await)
    }

    /// Waits for the lock, as long as the options say and at most one answer longer.
    pub(super) async fn wait(&self) -> Result<Guard, NotHad> {
        let tasks = &self.inner.tasks;
        let got = tokio::select! {
            biased;
            got = self.stand_in_line() => got,
            () = tasks.stopping() => Err(NotHad::Refused(stopping())),
        };
        self.inner.told(got)
    }

    async fn stand_in_line(&self) -> Result<Guard, NotHad> {
        let mut waits = Waits { tally: &self.inner.waiting, counted: None };
        if self.options.token.is_some() {
            // It may hold the lock already, for which others wait.
            match self.ask(false).await {
                Err(NotHad::Busy(_)) => waits.count(),
                got => return got,
            }
        }
        let ticket = self.inner.queues.join(self.name);
        let clock = &self.inner.clock;
        let mut first = pin!(ticket.first());
        let place = match first.as_mut().now_or_never() {
            Some(place) => Some(place),
            None => {
                waits.count();
                clock.timeout(self.until.since(clock.now()), first).await
            }
        };
        match place {
            Some(Some(_place)) => self.contend(&ticket, &mut waits).await,
            Some(None) => Err(NotHad::Unasked),
            None => Err(NotHad::Busy(ticket.free_at().since(clock.now()))),
        }
    }

    /// Asks until the lock is had. Whoever frees it later than the listening begins is heard, so that nothing is missed
    /// between a question and the sleep after it.
    async fn contend(&self, ticket: &Ticket<'_>, waits: &mut Waits<'_>) -> Result<Guard, NotHad> {
        let Inner { backend, clock, wake, .. } = &**self.inner;
        let mut listener = wake.listen(&backend.wake_name(self.name));
        loop {
            let left = match self.ask(wake.hears()).await {
                Err(NotHad::Busy(left)) => left,
                Err(NotHad::Unasked) => {
                    ticket.give_up();
                    return Err(NotHad::Unasked);
                }
                got => return got,
            };
            waits.count();
            let now = clock.now();
            ticket.tell(now.after(left));
            if now >= self.until {
                return Err(NotHad::Busy(left));
            }
            let patience = if wake.hears() { PATIENCE } else { PAUSE };
            let pause = left.clamp(PAUSE, patience).min(self.until.since(now));
            tokio::select! {
                biased;
                () = listener.woken() => {}
                () = clock.sleep(pause) => {}
            }
        }
    }

    async fn ask(&self, waits: bool) -> Result<Guard, NotHad> {
        let Self { inner, name, options: Options { time_to_live, replicas, .. }, token, .. } = self;
        if inner.tasks.is_stopping() {
            return Err(NotHad::Refused(stopping()));
        }
        let asked = inner.clock.now();
        let again = self.options.token.is_some();
        let ask = Ask { token: *token, life: *time_to_live, waits, replicas: *replicas, again };
        match inner.backend.acquire(name, ask).await {
            Ok(Verdict::Granted { fence }) => self.hold(asked, fence),
            Ok(Verdict::Busy(left)) => Err(NotHad::Busy(left)),
            Ok(Verdict::Foreign) => Err(NotHad::Refused(Error::foreign(&inner.backend.wake_name(name)))),
            Ok(Verdict::Unconfirmed(confirmed)) => Err(NotHad::Refused(unconfirmed(confirmed))),
            Err(_) => Err(NotHad::Unasked),
        }
    }

    fn hold(&self, asked: Moment, fence: u64) -> Result<Guard, NotHad> {
        let grip = match self.options.token {
            None => self.grip(asked, fence),
            Some(token) => {
                let (key, life) = ((self.name.clone(), token), self.options.time_to_live);
                self.inner.own.join(key, fence, asked, life, || self.grip(asked, fence))
            }
        };
        let guard = Guard(grip);
        if guard.is_lost() { Err(NotHad::Refused(late())) } else { Ok(guard) }
    }

    fn grip(&self, asked: Moment, fence: u64) -> Arc<Grip> {
        let (inner, options) = (self.inner, self.options);
        let (clock, life) = (&inner.clock, options.time_to_live);
        let hold = Arc::new(Hold::new(self.name.clone(), self.token, fence, clock.clone(), asked, life));
        let (leave, left) = tokio::sync::oneshot::channel();
        let now = clock.now();
        let at_most = now.after(options.max_hold);
        let place = inner.agenda.add(Keeper {
            hold: hold.clone(),
            inner: inner.clone(),
            life,
            due: now.after(life / 3).min(hold.until()).min(at_most),
            at_most,
            leave: left,
            settled: false,
        });
        Grip::new(inner.clone(), hold, place, leave, options.token.is_some())
    }
}

impl Inner {
    fn told(&self, got: Result<Guard, NotHad>) -> Result<Guard, NotHad> {
        let outcome = match &got {
            Ok(_) => LockOutcome::Acquired,
            Err(NotHad::Busy(_)) => LockOutcome::Busy,
            Err(NotHad::Unasked | NotHad::Refused(_)) => LockOutcome::Unavailable,
        };
        self.observe.record(Event::Lock { outcome });
        got
    }
}
