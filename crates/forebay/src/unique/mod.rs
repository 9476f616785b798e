//! "How many different ones?": visitors counted by the day, each once however often they come.
//!
//! A day is one HyperLogLog of at most 14 KB, however many come. Counts of several days are counts of their union, never
//! sums: who comes every day of a week is one visitor of that week. Counts are estimates, see
//! [`Count::STANDARD_ERROR`].
//!
//! # Days
//!
//! Days are those of a time zone, by the clock of Redis: no clock of a client decides anything. A process knows how long
//! ago somebody came, and what time it is at Redis; the script that counts compares both with the server's clock, and
//! refuses what does not fit, which is then sent anew under its right day. So those who came while Redis could not be
//! asked are counted on the day on which they came. In process memory, days go by the machine's time as it was when the
//! `Forebay` was built.
//!
//! A day is kept for as many days after its end as [`Builder::keep_days`] says.
//!
//! # Records
//!
//! [`Unique::record`] waits for nothing. Over Redis a task sends what was recorded, each second and as soon as 1,000
//! wait, 1,000 in one round trip; who was sent within the last minutes is not sent again. While Redis cannot be asked,
//! as many wait as [`Builder::buffer`] says. Shutting down sends the rest. What is dropped is told: by
//! [`Unique::figures`], as an event and in the log.
//!
//! What is sent and stored is no id but the first 16 bytes of its BLAKE3 hash. Programs that add to the same counter by
//! themselves, by `PFADD`, do the same. It keeps ids out of Redis, its log and its monitor. It does not make them
//! anonymous: who has such a hash can try ids, and addresses are few.
//!
//! What Redis loses is lost, except that who comes again is counted again after ten minutes at most.
//!
//! | to see | read |
//! |---|---|
//! | what is told, and to whom does not record | `count`, `reader` |
//! | when days begin and end | `calendar`, `time` for the server's clock |
//! | who waits, and who does not need to | `buffer`, with `pending` and `seen` |
//! | how it is counted | `redis` and its scripts, `memory` with `sketch` |

mod backend;
mod buffer;
mod builder;
mod calendar;
mod count;
mod home;
mod memory;
mod pending;
mod reader;
mod redis;
mod seen;
mod sketch;
mod time;
mod visitor;

use std::{fmt, sync::Arc};

use tokio_util::sync::DropGuard;

pub(crate) use self::home::Home;
use self::{
    backend::{Asked, Backend},
    visitor::Visitor,
};
pub use self::{
    builder::Builder,
    count::{Count, Figures},
    reader::Reader,
};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
};

/// A date, as `2026-05-13` is parsed and shown.
pub use jiff::civil::Date;

/// Counts different visitors by the day. Cheap to clone.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use forebay::Forebay;
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let visitors = forebay.unique("site").time_zone("Europe/Berlin").build()?;
///
/// for id in ["ada", "grace", "ada"] {
///     visitors.record(id);
/// }
/// assert_eq!(visitors.today().await?.visitors, 2);
/// assert_eq!(visitors.count_days(7).await?.visitors, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Unique(Arc<Inner>);

struct Inner {
    counter: Name,
    keep_days: u32,
    backend: Arc<dyn Backend>,
    /// Tells the counter's task that nobody is left who could record.
    _parted: DropGuard,
}

impl Unique {
    fn new(counter: Name, keep_days: u32, backend: Arc<dyn Backend>, parted: DropGuard) -> Self {
        Self(Arc::new(Inner { counter, keep_days, backend, _parted: parted }))
    }

    /// The name of the counter.
    #[must_use]
    pub fn counter(&self) -> &str {
        self.0.counter.as_str()
    }

    /// How many days can be counted together.
    #[must_use]
    pub fn keep_days(&self) -> u32 {
        self.0.keep_days
    }

    /// What counts the same and records nobody.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader(self.clone())
    }

    /// Records that `id` came now. It waits for nothing and cannot fail; over Redis it is counted within about a
    /// second. Any text is the id of somebody, the empty one too: where nobody is known, record nothing.
    pub fn record(&self, id: &str) {
        self.0.backend.record(Visitor::of(id));
    }

    /// Has everybody counted who was recorded before. A call that is dropped loses nothing.
    ///
    /// # Errors
    ///
    /// The store cannot be asked; what was recorded waits on.
    pub async fn flush(&self) -> Result<(), Error> {
        self.0.backend.flush().await.map_err(|_| unavailable())
    }

    /// Counts today's visitors. Whoever was recorded here before is among them, as in all counts, unless the server
    /// refuses to be written to; then they wait on, as [`Unique::figures`] says.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    pub async fn today(&self) -> Result<Count, Error> {
        self.ask(Asked::Last(1)).await
    }

    /// Counts the visitors of one day, which may be yet to come.
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or the day is longer ago than days are kept.
    pub async fn count(&self, date: Date) -> Result<Count, Error> {
        self.ask(Asked::On(date)).await
    }

    /// Counts the visitors of the last `days` days, of which today is the last: each visitor once, however many of the
    /// days it came on.
    ///
    /// # Errors
    ///
    /// The store cannot be asked, or `days` is 0 or more than [`Unique::keep_days`].
    pub async fn count_days(&self, days: u32) -> Result<Count, Error> {
        let keep = self.0.keep_days;
        if !(1..=keep).contains(&days) {
            let why =
                format!("{days} days cannot be counted together: unique {} keeps {keep}", self.0.counter);
            return Err(Error::new(ErrorKind::Config, why));
        }
        self.ask(Asked::Last(days)).await
    }

    /// How many wait to be counted, and how many were dropped.
    #[must_use]
    pub fn figures(&self) -> Figures {
        self.0.backend.figures()
    }

    async fn ask(&self, asked: Asked) -> Result<Count, Error> {
        let counted = self.0.backend.count(asked).await.map_err(|_| unavailable())?;
        let [from, to] = counted.span;
        if from < calendar::before(counted.today, self.0.keep_days) {
            let why = format!(
                "{from} is no longer kept: unique {} keeps {} days",
                self.0.counter, self.0.keep_days
            );
            return Err(Error::new(ErrorKind::Config, why));
        }
        Ok(Count { visitors: counted.visitors, from, to })
    }
}

fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the store cannot be asked; what was recorded waits on")
}

impl fmt::Debug for Unique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unique")
            .field("counter", &self.0.counter)
            .field("keep_days", &self.0.keep_days)
            .field("figures", &self.figures())
            .finish_non_exhaustive()
    }
}
