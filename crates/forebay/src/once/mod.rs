//! "Did this happen already?" – names that one caller claims, and work that is run once however often it is asked for.
//!
//! | to see | read |
//! |---|---|
//! | what claims are told | `claim` |
//! | what is told of work that runs once, and what it brings | `begun`, `record` |
//! | the right to run it | `execution`, with its `heartbeat` and its `completion` |
//! | how it is kept | `redis` (in scripts), `memory` (the same in this process) |

mod backend;
mod begun;
mod builder;
mod claim;
mod completion;
mod execution;
mod heartbeat;
mod home;
mod inner;
mod memory;
mod record;
mod redis;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use self::{
    backend::{Known, Step, Under},
    builder::LEAST_LEASE,
    completion::Completion,
    inner::Inner,
};
pub use self::{
    begun::{Begun, Completed, Failure, Ran},
    builder::{Builder, OnIndeterminate},
    claim::Claim,
    execution::Execution,
    record::Record,
};
pub(crate) use self::{home::Home, memory::MemoryBackend};
#[cfg(feature = "tower")]
use crate::clock::Clock;
use crate::{
    error::{Error, ErrorKind},
    key::encode,
    redis::Unusable,
    token::Token,
};

/// How often somebody who waits for another process looks whether it is done.
const LOOK: Duration = Duration::from_millis(250);

/// Has work run once, whatever is retried, and hands out again what it brought. Cheap to clone.
///
/// Work that was begun and of whose end nobody heard is not run again, unless [`OnIndeterminate::Rerun`] says so: the
/// store cannot know whether it was done. It also cannot undo: what is done outside it in the same breath, such as a
/// row in a database, belongs into a transaction with what guards it.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # async fn charge(cents: u64) -> Result<String, std::io::Error> { Ok(format!("charged {cents}")) }
/// use forebay::{Forebay, once::{Ran, Record}};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let payments = forebay.idempotency().build()?;
///
/// for replayed in [false, true] {
///     let ran = payments.run("user:42 order:7", "1200 cents", async |_| Ok(Record::new(charge(1200).await?)));
///     match ran.await? {
///         Ran::Done { record, replayed: again } => assert_eq!((&record.bytes()[..], again), (&b"charged 1200"[..], replayed)),
///         Ran::Failed(error) => return Err(std::io::Error::from(error).into()),
///         other => panic!("{other:?}"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Idempotency(Arc<Inner>);

impl Idempotency {
    /// Runs `work` under `name` unless that was done before, and keeps what it brings.
    ///
    /// The fingerprint tells requests apart that come under one name: of those with another than the first none is
    /// run. Where somebody else runs it, nothing is waited for. Work whose lease is lost goes on: it may look at
    /// [`Execution::is_lost`]. Where this future is dropped meanwhile, the work is indeterminate.
    ///
    /// # Errors
    ///
    /// The store cannot be asked; then nothing is run.
    pub async fn run<E>(
        &self,
        name: &str,
        fingerprint: impl AsRef<[u8]>,
        work: impl AsyncFnOnce(&Execution) -> Result<Record, Failure<E>>,
    ) -> Result<Ran<E>, Error> {
        let execution = match self.begin(name, fingerprint).await? {
            Begun::Run(execution) => execution,
            Begun::Done(record) => return Ok(Ran::Done { record, replayed: true }),
            Begun::Running { retry_after } => return Ok(Ran::Running { retry_after }),
            Begun::Mismatch => return Ok(Ran::Mismatch),
            Begun::Indeterminate => return Ok(Ran::Indeterminate),
        };
        Ok(match work(&execution).await {
            Ok(record) => {
                // Whatever becomes of the record, this is what was done.
                execution.complete(record.clone()).await.ok();
                Ran::Done { record, replayed: false }
            }
            Err(Failure::Undone(error)) => {
                execution.give_up().await.ok();
                Ran::Failed(error)
            }
            Err(Failure::Unknown(error)) => Ran::Failed(error),
        })
    }

    /// Lets the caller run what comes under `name`, or says how it stands.
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or shutdown has begun. A request that the store carries out late is taken back.
    pub async fn begin(&self, name: &str, fingerprint: impl AsRef<[u8]>) -> Result<Begun, Error> {
        let token = Token::roll(&self.0.home.context.dice);
        let under = Under { token, known: Known::ToNobody };
        self.0.begin(&encode(name), fingerprint.as_ref(), under).await
    }

    /// As [`Idempotency::begin`], under a token of the caller's: whoever asks again under it gets the same answer. Once it
    /// was given up, do not use the token again: where the answer to that was late, it would be given up again.
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or shutdown has begun. What it carries out late is not taken back: ask again, or
    /// give up.
    pub async fn begin_as(
        &self,
        name: &str,
        fingerprint: impl AsRef<[u8]>,
        token: Token,
    ) -> Result<Begun, Error> {
        let under = Under { token, known: Known::ToCaller };
        self.0.begin(&encode(name), fingerprint.as_ref(), under).await
    }

    /// As [`Idempotency::begin`], but waits for at most `wait` while somebody else runs it.
    ///
    /// # Errors
    ///
    /// As [`Idempotency::begin`].
    pub async fn begin_within(
        &self,
        name: &str,
        fingerprint: impl AsRef<[u8]>,
        wait: Duration,
    ) -> Result<Begun, Error> {
        let context = &self.0.home.context;
        let (clock, key) = (&context.clock, self.0.keys.idempotency(&encode(name)));
        let until = clock.now().after(wait);
        loop {
            let mut done = context.wake.listen(&key);
            let begun = self.begin(name, fingerprint.as_ref()).await?;
            let left = until.since(clock.now());
            let Begun::Running { retry_after } = begun else { return Ok(begun) };
            if left.is_zero() {
                return Ok(begun);
            }
            clock.timeout(LOOK.min(retry_after).min(left), done.woken()).await;
        }
    }

    /// Lets the lease of the execution under `token` begin anew, also after its end unless somebody else has run
    /// since. Returns the life it has now; nothing if the execution does not run.
    ///
    /// # Errors
    ///
    /// A lease below 100 ms, or longer than what is kept, or the store cannot be asked.
    pub async fn renew(&self, name: &str, token: Token, lease: Duration) -> Result<Option<Duration>, Error> {
        if !(LEAST_LEASE..=self.0.keep).contains(&lease) {
            let why = format!("the lease is {lease:?}; 100 ms is the least, {:?} the most", self.0.keep);
            return Err(Error::new(ErrorKind::Config, why));
        }
        let step = Step::Renew { lease, keep: self.0.keep };
        self.0.step(&encode(name), token, step).await.map_err(unavailable)
    }

    /// Keeps what the execution under `token` has brought, as [`Execution::complete`] does.
    ///
    /// # Errors
    ///
    /// As of [`Execution::complete`]; but nobody renews the lease meanwhile.
    pub fn complete(
        &self,
        name: &str,
        token: Token,
        record: Record,
    ) -> impl Future<Output = Result<Completed, Error>> + Send + use<> {
        let (inner, name) = (self.0.clone(), encode(name).into());
        Completion { inner, name, token, record, anew: None, heartbeat: None }.begin()
    }

    /// Says that nothing was done under `token`, as [`Execution::give_up`] does.
    ///
    /// # Errors
    ///
    /// As of [`Execution::give_up`].
    pub fn give_up(
        &self,
        name: &str,
        token: Token,
    ) -> impl Future<Output = Result<bool, Error>> + Send + use<> {
        execution::give_up(self.0.clone(), encode(name).into(), token)
    }

    /// Starts `work`, which runs to its end whoever waits for it.
    #[cfg(feature = "tower")]
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.home.context.tasks.spawn(work);
    }

    #[cfg(feature = "tower")]
    pub(crate) fn clock(&self) -> &Clock {
        &self.0.home.context.clock
    }

    /// How large a record may be.
    #[cfg(feature = "tower")]
    pub(crate) fn max_record(&self) -> usize {
        self.0.max_record
    }
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn unavailable(_: Unusable) -> Error {
    Error::new(ErrorKind::Unavailable, "the store cannot be asked; whether it was done is not known")
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "shutdown has ended it; whether it was done is not known")
}
