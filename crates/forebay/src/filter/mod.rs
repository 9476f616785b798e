//! "Can this id exist at all?": a Bloom filter, whose "no" can be relied on.
//!
//! | to see | read |
//! |---|---|
//! | how large a filter is | `shape` |
//! | what is kept of an id | `mark` |
//! | what is answered and told | `answer` |
//! | how one is built while another is in use | `rebuild` |
//! | when a "no" is believed | `redis` with its scripts, `memory` |

mod answer;
mod backend;
mod builder;
mod home;
mod mark;
mod memory;
mod rebuild;
mod redis;
mod shape;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

pub(crate) use self::home::Home;
pub use self::{
    answer::{Answer, Figures, Rebuilt},
    builder::Builder,
    rebuild::Rebuild,
};
use self::{
    backend::{Backend, Seen},
    mark::Mark,
    shape::Shape,
};
use crate::{
    context::Context,
    error::{Error, ErrorKind},
    key::Name,
    observe::{Event, FilterOutcome},
    redis::{LEAST, Road, Unusable},
};

/// Tells which ids cannot exist, so that nobody needs to look for them. Cheap to clone.
///
/// It says [`Answer::No`] only of ids that were never added, and only while all of this is so: it was filled by
/// [`Filter::rebuild`], its keys in Redis are there, and the server has been a primary without a break since. In every
/// other case, and of the share of the ids that it was built for, it says [`Answer::Maybe`].
///
/// For that to hold, **add an id before its row becomes visible**, and make the row visible only if that was `Ok`. What
/// a primary has confirmed and loses is lost to the filter as well, if others go on asking that one: a partition of a
/// Redis with replicas is beyond what it can see.
///
/// Processes may build it with different parameters, as during a deployment: all use the ones that it was filled with,
/// and the next rebuild applies those of its own process. Beyond its capacity it still has no false "no", but says
/// "maybe" more and more often; [`Filter::figures`] tells how often.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use forebay::{Error, Forebay, filter::Answer};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let known = forebay.filter("products", 1_000_000, 0.01).visible_within(Duration::ZERO).build()?;
/// assert_eq!(known.check("p-002").await, Answer::Maybe); // it was never filled
///
/// let stored = ["p-001"];
/// let _done = known.rebuild(async |fresh| fresh.add_all(stored).await).await?;
/// assert_eq!(known.check("p-001").await, Answer::Maybe);
/// assert_eq!(known.check("p-002").await, Answer::No);
///
/// known.add("p-002").await?; // then the database commits the new row
/// assert_eq!(known.check("p-002").await, Answer::Maybe);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Filter(Arc<Inner>);

/// What the clones of one filter share.
pub(crate) struct Inner {
    name: Name,
    shape: Shape,
    visible_within: Duration,
    backend: Arc<dyn Backend>,
    context: Context,
    /// Whether the log says that it is not complete.
    incomplete: AtomicBool,
}

impl Filter {
    /// The name of the filter.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name.as_str()
    }

    /// Adds an id. Call it before the row becomes visible.
    ///
    /// # Errors
    ///
    /// The store cannot be asked: the row must not become visible. Adding again is free of risk.
    pub async fn add(&self, id: impl AsRef<str>) -> Result<(), Error> {
        self.0.add(&[Mark::of(id.as_ref())]).await
    }

    /// Adds several ids, at most 500 a round trip.
    ///
    /// # Errors
    ///
    /// As for [`Filter::add`]; some of them may have been added.
    pub async fn add_all(&self, ids: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), Error> {
        let marks: Vec<Mark> = ids.into_iter().map(|id| Mark::of(id.as_ref())).collect();
        self.0.add(&marks).await
    }

    /// Tells whether an id can exist. What the store does not say in time is [`Answer::Maybe`].
    pub async fn check(&self, id: impl AsRef<str>) -> Answer {
        self.0.check(&[Mark::of(id.as_ref())]).await[0]
    }

    /// Tells of several ids, in the order given, whether they can exist; at most 500 a round trip.
    pub async fn check_all(&self, ids: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Answer> {
        let marks: Vec<Mark> = ids.into_iter().map(|id| Mark::of(id.as_ref())).collect();
        self.0.check(&marks).await
    }

    /// Fills the filter anew with exactly the ids that `source` brings, and those that are added meanwhile. The old one
    /// stays in use until then; if this is dropped or fails, also afterwards.
    ///
    /// Of several rebuilds at once one runs, and the others are told so. `source` begins
    /// [`visible_within`](Builder::visible_within) after this call, and must then read everything that is committed.
    /// Where there are no ids yet, bring none.
    ///
    /// Rebuild it when it is not [complete](Figures::complete), as after a restart of the server, and now and then, as ids
    /// of deleted rows stay in it. In Redis the new bitmap is zeroed in one step: 512 MiB hold the server up for about
    /// a quarter of a second.
    ///
    /// # Errors
    ///
    /// That of `source`, or one of ours in its place: the store could not be asked, or has lost what was added.
    ///
    /// # Example
    ///
    /// ```
    /// # use forebay::{Error, filter::{Filter, Rebuilt}};
    /// # async fn fill(known: Filter) -> Result<(), Error> {
    /// let pages = [vec!["p-001".to_owned()], vec!["p-002".to_owned()]];
    /// let rebuilt = known
    ///     .rebuild(async |fresh| {
    ///         for page in &pages {
    ///             fresh.add_all(page).await?;
    ///         }
    ///         Ok::<_, Error>(())
    ///     })
    ///     .await?;
    /// if let Rebuilt::Running { retry_after } = rebuilt {
    ///     println!("somebody else is at it, for {retry_after:?} at least");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn rebuild<E: From<Error>>(
        &self,
        source: impl AsyncFnOnce(&Rebuild) -> Result<(), E>,
    ) -> Result<Rebuilt, E> {
        self.0.rebuild(source).await
    }

    /// Tells how the filter stands, by the first MiB of its bitmap.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    pub async fn figures(&self) -> Result<Figures, Error> {
        self.0.backend.look().await.map_err(|_| self.0.unavailable("cannot be looked at"))
    }

    /// As [`Filter::check`], and how much of the time of a read that has taken.
    pub(crate) async fn sift(&self, id: &str) -> (Answer, Duration) {
        let Some(redis) = self.0.backend.redis() else { return (self.check(id).await, Duration::ZERO) };
        let (began, marks) = (redis.clock().now(), [Mark::of(id)]);
        let seen = self.0.backend.check(&marks).await;
        let most = if seen.is_ok() { redis.span(Road::Usual).saturating_sub(LEAST) } else { Duration::MAX };
        let spent = redis.clock().now().since(began).min(most);
        (self.0.answers(&marks, seen)[0], spent)
    }
}

impl Inner {
    async fn add(&self, marks: &[Mark]) -> Result<(), Error> {
        self.backend.add(marks).await.map_err(|_| self.unavailable("may lack what was to be added"))
    }

    async fn check(&self, marks: &[Mark]) -> Vec<Answer> {
        self.answers(marks, self.backend.check(marks).await)
    }

    fn answers(&self, marks: &[Mark], seen: Result<Vec<Seen>, Unusable>) -> Vec<Answer> {
        let Ok(seen) = seen else {
            marks.iter().for_each(|_| self.record(FilterOutcome::Unavailable));
            return vec![Answer::Maybe; marks.len()];
        };
        seen.into_iter().map(|seen| self.answer(seen)).collect()
    }

    fn answer(&self, seen: Seen) -> Answer {
        match seen {
            Seen::No => {
                self.incomplete.store(false, Relaxed);
                self.record(FilterOutcome::No);
                return Answer::No;
            }
            Seen::Maybe => self.record(FilterOutcome::Maybe),
            Seen::Incomplete => {
                if !self.incomplete.swap(true, Relaxed) {
                    tracing::warn!(
                        filter = self.name(),
                        "it is not complete, and so answers nothing but maybe: rebuild it"
                    );
                }
                self.record(FilterOutcome::Incomplete);
            }
        }
        Answer::Maybe
    }

    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn record(&self, outcome: FilterOutcome) {
        self.context.observe.record(Event::Sifted { filter: self.name(), outcome });
    }

    fn unavailable(&self, what: &str) -> Error {
        Error::new(ErrorKind::Unavailable, format!("filter {} {what}: the store cannot be asked", self.name))
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("name", &self.name).field("shape", &self.shape).finish_non_exhaustive()
    }
}
