//! "Only one at a time": locks whose holders are told when they have lost them.
//!
//! | to see | read |
//! |---|---|
//! | how a lock is asked for | `options`, `contest`, with `queue` for those who wait in one process |
//! | what a holder has | `guard`, `grip`, `hold`, `tenure` |
//! | who renews and frees it | `keeper`, with `agenda` for when it begins |
//! | what is asked of a store | `backend`, `redis` (in scripts), `memory` |
//!
//! # What a lock can promise
//!
//! While the store keeps its data and its clock, and a holder's process runs, there is one holder at a time: a holder
//! is told that it lost its lock before anybody else is given it. A lock over one Redis cannot promise more. A process
//! that is stopped in the middle of a write goes on with it when it is woken, whoever holds the lock by then; a server
//! that fails over, is flushed or is set back may give a lock out twice. Where that would do harm, let what is written
//! refuse old holders by their [fence](Guard::fence).

mod agenda;
mod backend;
mod contest;
mod error;
mod grip;
mod guard;
mod hold;
mod home;
mod keeper;
mod memory;
#[cfg(all(test, forebay_shuttle))]
mod models;
mod options;
mod queue;
mod redis;
mod tally;
mod tenure;

use std::{fmt, sync::Arc, time::Duration};

use self::{
    backend::Freed,
    contest::{Contest, NotHad},
    error::unavailable,
    options::{Options, Replicas},
};
pub use self::{
    error::LockError,
    guard::{Guard, Held},
};
pub(crate) use self::{home::Home, memory::Locks};
use crate::{error::Error, key::encode, token::Token};

/// A lock of which there is one by its name, with how it is asked for. Cheap to clone; nothing is held by it.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use forebay::Forebay;
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let lock = forebay.lock("plan:42").time_to_live(Duration::from_secs(30)).wait(Duration::from_secs(2));
///
/// let fence = lock.run(async |held| held.fence()).await?;
/// let guard = lock.acquire().await?;
/// assert!(guard.fence() > fence);
/// assert!(lock.try_acquire().await?.is_none());
/// guard.release().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a lock does nothing until it is asked for"]
pub struct Lock {
    home: Home,
    name: Arc<str>,
    options: Options,
}

impl Lock {
    pub(crate) fn new(home: Home, name: &str) -> Self {
        Self { home, name: encode(name).into(), options: Options::default() }
    }

    /// Sets for how long a holder that cannot renew the lock keeps others out. From 100 ms to 24 h. Default: 30 s.
    ///
    /// A holder gives up a hundredth of it and 50 ms, so that it stops before another begins. The lock is renewed at
    /// each third.
    pub fn time_to_live(mut self, life: Duration) -> Self {
        self.options.time_to_live = life;
        self
    }

    /// Sets how long the lock is waited for, at most 1 h; 0 tries once. Default: 10 s.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.options.wait = wait;
        self
    }

    /// Sets after how long a holder has been forgotten, and loses the lock. Default: 1 h.
    pub fn max_hold(mut self, longest: Duration) -> Self {
        self.options.max_hold = longest;
        self
    }

    /// Sets how many replicas must have confirmed the lock `within` a time (1 ms to 1 s), by `WAIT`, for it to be had;
    /// otherwise the answer is [`LockError::Unavailable`]. Default: none.
    ///
    /// That makes it less likely that a lock is given out again after a failover, not impossible. The memory store has
    /// no replicas, and needs none.
    pub fn replicas(mut self, count: u32, within: Duration) -> Self {
        self.options.replicas = Some(Replicas { count, within });
        self
    }

    /// Sets the token under which the lock is held: whoever asks again under it has the same fence. Default: a new one
    /// each time.
    ///
    /// Guards that one process has under it at a time are of one holding, which is kept as the first of them asked and
    /// ends with the last. Of other processes each frees the lock for all.
    ///
    /// Nothing that was granted under it is taken back, where an answer was lost or nobody waited for it: ask again, or
    /// [release](Lock::release) it; otherwise it ends with its life. Do not use it again for another holding.
    pub fn token(mut self, token: Token) -> Self {
        self.options.token = Some(token);
        self
    }

    /// Does `work` under the lock. The work is dropped once the lock is lost, before the store admits another holder;
    /// in a process that was stopped, before it goes on.
    ///
    /// The lock is free when this returns, for other processes too, if Redis can be asked: a round trip that a dropped
    /// [`Guard`] does not wait for.
    ///
    /// Work that does not come back to the runtime cannot be dropped: let it look at [`Held::is_lost`], and write with
    /// [`Held::fence`].
    ///
    /// # Errors
    ///
    /// The lock was not had, or lost before the work was done.
    pub async fn run<T, F, Fut>(&self, work: F) -> Result<T, LockError>
    where
        F: FnOnce(Held) -> Fut,
        Fut: Future<Output = T>,
    {
        let guard = self.acquire().await?;
        let done = {
            let work = work(guard.held());
            tokio::select! {
                biased;
                () = guard.lost() => None,
                done = work => Some(done),
            }
        };
        // Whoever comes next on this name finds it free; that it could not be freed at once changes nothing.
        guard.release().await.ok();
        done.ok_or(LockError::Lost)
    }

    /// Takes the lock, and waits for it where somebody else holds it: in the order of coming within one process. Of several
    /// processes the one that asks first when it is free has it.
    ///
    /// Whoever stops waiting does not hold the lock.
    ///
    /// # Errors
    ///
    /// The lock was not had.
    pub async fn acquire(&self) -> Result<Guard, LockError> {
        self.options.check().map_err(LockError::Invalid)?;
        let contest = self.contest();
        let got = if self.options.wait.is_zero() { contest.attempt().await } else { contest.wait().await };
        got.map_err(LockError::from)
    }

    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or an option could not work.
    pub async fn try_acquire(&self) -> Result<Option<Guard>, Error> {
        self.options.check()?;
        match self.contest().attempt().await {
            Ok(guard) => Ok(Some(guard)),
            Err(NotHad::Busy(_)) => Ok(None),
            Err(NotHad::Unasked) => Err(unavailable()),
            Err(NotHad::Refused(error)) => Err(error),
        }
    }

    /// Holds a lock that was [turned into its token](Guard::into_token) for at least its `time_to_live` from now on.
    ///
    /// Returns whether it was still held.
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or an option could not work. The lock is held for as long as it was.
    pub async fn renew(&self, token: Token) -> Result<bool, Error> {
        self.options.check()?;
        let life = self.options.time_to_live;
        self.home.0.backend.renew(&self.name, token, life).await.map_err(|_| unavailable())
    }

    /// Frees a lock that was [turned into its token](Guard::into_token), whether or not anybody waits until that is
    /// done.
    ///
    /// Returns whether it was still held.
    ///
    /// # Errors
    ///
    /// The store cannot be asked. The lock is freed as soon as it can, or else ends by itself.
    pub async fn release(&self, token: Token) -> Result<bool, Error> {
        self.home.0.backend.release(&self.name, token).await.map_err(|_| unavailable())
    }

    /// Takes the lock away from whoever holds it: for operators, where a holder hangs that goes on renewing it.
    ///
    /// The holder is told when it next renews the lock, which is at a third of its `time_to_live` at the latest, and works
    /// until then although somebody else may have the lock already; that one has a larger
    /// [fence](Guard::fence). Returns whether anybody held it.
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or something stands in the lock's place that is none
    /// ([`ErrorKind::Foreign`](crate::ErrorKind::Foreign)), and is left there.
    pub async fn force_release(&self) -> Result<bool, Error> {
        let backend = &self.home.0.backend;
        match backend.force_release(&self.name).await.map_err(|_| unavailable())? {
            Freed::Held => Ok(true),
            Freed::Nothing => Ok(false),
            Freed::Foreign => Err(Error::foreign(&backend.wake_name(&self.name))),
        }
    }

    fn contest(&self) -> Contest<'_> {
        Contest::new(&self.home.0, &self.name, &self.options)
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock")
            .field("name", &self.name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
