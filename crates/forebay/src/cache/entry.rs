//! Values on their way: an entry out of the cache, what a loader is given, what it answers.

use std::{fmt, sync::Arc, time::Duration};

use super::numbers::Stamp;
use crate::key::encode;

/// A value out of the cache, with what is known of it.
#[non_exhaustive]
pub struct Entry<V> {
    /// The value.
    pub value: Arc<V>,
    /// How long it has been in the cache, to the precision of the coarse clock.
    pub age: Duration,
    /// How long it will be fresh; zero when it is stale.
    pub fresh_for: Duration,
    /// Where it came from.
    pub source: Source,
    /// What identifies this version of the value, such as an `ETag`; given by its loader.
    pub validator: Option<Arc<str>>,
    /// The random number of this entry, the same in every process.
    pub id: u64,
    pub(crate) stamp: Stamp,
    /// What loads of the value take, smoothed; zero where none was measured.
    pub(crate) load_time: Duration,
}

impl<V> Entry<V> {
    /// Whether the value is past its fresh life.
    pub fn is_stale(&self) -> bool {
        self.fresh_for.is_zero()
    }

    /// The value as its origin still has it.
    pub(crate) fn again(&self) -> Loaded<V> {
        Loaded {
            validator: self.validator.clone(),
            tags: self.stamp.tags.to_vec(),
            ..Loaded::shared(self.value.clone())
        }
    }
}

impl<V> Clone for Entry<V> {
    fn clone(&self) -> Self {
        let (value, validator) = (self.value.clone(), self.validator.clone());
        Self { value, validator, stamp: self.stamp.clone(), ..*self }
    }
}

impl<V> fmt::Debug for Entry<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("age", &self.age)
            .field("fresh_for", &self.fresh_for)
            .field("source", &self.source)
            .field("validator", &self.validator)
            .finish_non_exhaustive()
    }
}

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The memory of this process.
    Memory,
    /// The store.
    Store,
    /// This caller's loader.
    Loaded,
    /// The loader of somebody for whom this caller waited.
    Coalesced,
}

/// What [`Cache::read`](super::Cache::read) found.
#[derive(Debug)]
#[must_use]
pub enum Read<V> {
    /// A value.
    Hit(Entry<V>),
    /// It is known that there is no value.
    Absent,
    /// Nothing.
    Miss,
}

/// What a loader is given: the id to load, and the value that it is to replace if there is one.
pub struct Load<V> {
    pub(crate) id: Arc<str>,
    pub(crate) stale: Option<Entry<V>>,
}

impl<V> Load<V> {
    /// The id to load, as the caller gave it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The value that was there until now, where the cache still has it: a stale one, or one that soon will be.
    pub fn stale(&self) -> Option<&Arc<V>> {
        self.stale.as_ref().map(|entry| &entry.value)
    }

    /// The validator of [`Load::stale`], to ask the origin whether anything changed.
    pub fn validator(&self) -> Option<&str> {
        self.stale.as_ref().and_then(|entry| entry.validator.as_deref())
    }

    /// The answer "nothing changed": the stale value with its tags, for another fresh life as the space gives
    /// it. `None` when there is none.
    pub fn not_modified(&self) -> Option<Loaded<V>> {
        self.stale.as_ref().map(Entry::again)
    }
}

impl<V> fmt::Debug for Load<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Load").field("stale", &self.stale).finish_non_exhaustive()
    }
}

/// A loaded value, with what its loader decides about how it is stored. Any value converts by `into()`.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use forebay::cache::Loaded;
///
/// // A token that states its own life.
/// let token = Loaded::new("secret".to_owned()).time_to_live(Duration::from_secs(540)).validator("v7");
///
/// // A product that is forgotten when its brand is.
/// let product = Loaded::new("shoe".to_owned()).tag("brand:7").tag("colour:red");
/// ```
#[must_use]
pub struct Loaded<V> {
    pub(crate) value: Arc<V>,
    pub(crate) time_to_live: Option<Duration>,
    pub(crate) stale_for: Option<Duration>,
    pub(crate) validator: Option<Arc<str>>,
    /// In their encoded form.
    pub(crate) tags: Vec<Box<str>>,
    pub(crate) stored: bool,
}

impl<V> Loaded<V> {
    /// A value that is stored under the options of its space.
    pub fn new(value: V) -> Self {
        Self::shared(Arc::new(value))
    }

    /// As [`Loaded::new`], for a value that is in an `Arc` already.
    pub fn shared(value: Arc<V>) -> Self {
        Self { value, time_to_live: None, stale_for: None, validator: None, tags: Vec::new(), stored: true }
    }

    /// Sets how long this value is fresh, without jitter. Under a millisecond it is not stored. Default: the
    /// space's.
    pub fn time_to_live(mut self, life: Duration) -> Self {
        self.time_to_live = Some(life);
        self
    }

    /// Sets how long this value is kept past its fresh life. Default: the space's.
    pub fn stale_for(mut self, life: Duration) -> Self {
        self.stale_for = Some(life);
        self
    }

    /// Sets what identifies this version of the value, such as an `ETag`. Default: none.
    pub fn validator(mut self, validator: impl Into<Arc<str>>) -> Self {
        self.validator = Some(validator.into());
        self
    }

    /// Adds a tag, any text: [`Cache::invalidate_tag`](super::Cache::invalidate_tag) forgets all values that have it. At
    /// most 128 different ones; with more, the value is not stored. Default: none.
    pub fn tag(mut self, tag: impl AsRef<str>) -> Self {
        let tag = encode(tag.as_ref());
        if !self.tags.iter().any(|held| **held == *tag) {
            self.tags.push(tag.into());
        }
        self
    }

    /// Adds several tags, as [`Loaded::tag`] does.
    pub fn tags(self, tags: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        tags.into_iter().fold(self, Self::tag)
    }

    /// Hands the value to those who wait, and stores it nowhere.
    pub fn do_not_store(mut self) -> Self {
        self.stored = false;
        self
    }
}

impl<V> From<V> for Loaded<V> {
    fn from(value: V) -> Self {
        Self::new(value)
    }
}

impl<V> fmt::Debug for Loaded<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("time_to_live", &self.time_to_live)
            .field("stale_for", &self.stale_for)
            .field("validator", &self.validator)
            .field("tags", &self.tags)
            .field("stored", &self.stored)
            .finish_non_exhaustive()
    }
}
