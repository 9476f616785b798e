//! How a lock is had: in the order of coming within this process, and by hints and patience between processes.

use std::{sync::Arc, time::Duration};

use super::{
    backend::{Ask, Verdict},
    error::{LockError, late, stopping, unavailable, unconfirmed},
    guard::Guard,
    hold::Hold,
    home::Inner,
    keeper::Keeper,
    options::Options,
    queue::Ticket,
};
use crate::{
    clock::Moment,
    observe::{Event, LockOutcome},
    token::Token,
};

/// How often the store is asked at most, other than upon a wake.
const PAUSE: Duration = Duration::from_millis(250);

/// How long a wake is waited for where wakes are heard: each is a hint that may be lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// One caller who wants one lock.
pub(super) struct Contest<'a> {
    inner: &'a Arc<Inner>,
    name: &'a Arc<str>,
    options: &'a Options,
    token: Token,
    until: Moment,
}

impl<'a> Contest<'a> {
    pub(super) fn new(inner: &'a Arc<Inner>, name: &'a Arc<str>, options: &'a Options) -> Self {
        let token = options.token.unwrap_or_else(|| Token::roll(&inner.dice));
        Self { inner, name, options, token, until: inner.clock.now().after(options.wait) }
    }

    /// Tries once.
    pub(super) async fn attempt(&self) -> Result<Guard, LockError> {
        self.inner.told(self.ask(false).await)
    }

    /// Waits for the lock, as long as the options say and at most one answer longer.
    pub(super) async fn wait(&self) -> Result<Guard, LockError> {
        let tasks = &self.inner.tasks;
        let got = tokio::select! {
            biased;
            got = self.stand_in_line() => got,
            () = tasks.stopping() => Err(LockError::Unavailable(stopping())),
        };
        self.inner.told(got)
    }

    async fn stand_in_line(&self) -> Result<Guard, LockError> {
        let ticket = self.inner.queues.join(self.name);
        let clock = &self.inner.clock;
        match clock.timeout(self.until.since(clock.now()), ticket.first()).await {
            Some(Some(_place)) => self.contend(&ticket).await,
            Some(None) => Err(LockError::Unavailable(unavailable())),
            None => Err(busy(ticket.free_at().since(clock.now()))),
        }
    }

    /// Asks until the lock is had. Whoever frees it later than the listening begins is heard, so that nothing is missed
    /// between a question and the sleep after it.
    async fn contend(&self, ticket: &Ticket<'_>) -> Result<Guard, LockError> {
        let Inner { backend, clock, wake, .. } = &**self.inner;
        let mut listener = wake.listen(&backend.wake_name(self.name));
        loop {
            let left = match self.ask(wake.hears()).await {
                Err(LockError::Busy { retry_after }) => retry_after,
                Err(LockError::Unavailable(error)) => {
                    ticket.give_up();
                    return Err(LockError::Unavailable(error));
                }
                got => return got,
            };
            let now = clock.now();
            ticket.tell(now.after(left));
            if now >= self.until {
                return Err(busy(left));
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

    async fn ask(&self, waits: bool) -> Result<Guard, LockError> {
        let Self { inner, name, options: Options { time_to_live, replicas, .. }, token, .. } = self;
        if inner.tasks.is_stopping() {
            return Err(LockError::Unavailable(stopping()));
        }
        let asked = inner.clock.now();
        let again = self.options.token.is_some();
        let ask = Ask { token: *token, life: *time_to_live, waits, replicas: *replicas, again };
        match inner.backend.acquire(name, ask).await {
            Ok(Verdict::Granted { fence }) => self.hold(asked, fence),
            Ok(Verdict::Busy(left)) => Err(busy(left)),
            Ok(Verdict::Unconfirmed(confirmed)) => Err(LockError::Unavailable(unconfirmed(confirmed))),
            Err(_) => Err(LockError::Unavailable(unavailable())),
        }
    }

    fn hold(&self, asked: Moment, fence: u64) -> Result<Guard, LockError> {
        let Inner { backend, clock, observe, tasks, releases, .. } = &**self.inner;
        let life = self.options.time_to_live;
        let hold = Arc::new(Hold::new(self.name.clone(), self.token, fence, clock.clone(), asked, life));
        let (leave, left) = tokio::sync::oneshot::channel();
        let keeper = Keeper {
            hold: hold.clone(),
            backend: backend.clone(),
            clock: clock.clone(),
            observe: observe.clone(),
            releases: releases.clone(),
            life,
            at_most: clock.now().after(self.options.max_hold),
            leave: left,
            settled: false,
        };
        tasks.spawn(keeper.run());
        let guard = Guard { hold, backend: backend.clone(), leave };
        if guard.is_lost() { Err(LockError::Unavailable(late())) } else { Ok(guard) }
    }
}

fn busy(left: Duration) -> LockError {
    LockError::Busy { retry_after: left.max(Duration::from_millis(1)) }
}

impl Inner {
    fn told(&self, got: Result<Guard, LockError>) -> Result<Guard, LockError> {
        let outcome = match &got {
            Ok(_) => LockOutcome::Acquired,
            Err(LockError::Busy { .. }) => LockOutcome::Busy,
            Err(_) => LockOutcome::Unavailable,
        };
        self.observe.record(Event::Lock { outcome });
        got
    }
}
