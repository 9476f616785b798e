//! Looking at one id without touching it: what each level has, and who loads.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use super::{
    Cache,
    backend::{Foreign, Held, Note, Purpose, Question, Seen, Stored},
    envelope::{Head, Unreadable},
    id::Id,
    inner::Inner,
    local::{Local, Meta, TAGGED},
    numbers::{Known, Stamp},
};
use crate::{codec::Payload, key::decode};

/// What is known of one id, from [`Cache::inspect`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection<V> {
    /// What process memory has, be it in use or not.
    pub memory: Option<InMemory>,
    /// What the store has; `None` where it cannot be asked, or a change of the id waits until it can.
    pub store: Option<InStore<V>>,
    /// Whether this process is about to load the id, or to ask for it.
    pub is_under_way: bool,
}

/// A value, or an absence, in the memory of this process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InMemory {
    /// Whether reads are answered with it. What is not is kept for while the store cannot be asked.
    pub is_in_use: bool,
    /// Whether it says that there is no value.
    pub is_absence: bool,
    /// What it takes in the budget of process memory, in bytes, without its id.
    pub bytes: u64,
    /// How long it has been in the cache.
    pub age: Duration,
    /// How long it will be fresh.
    pub fresh_for: Duration,
    /// How long the store is not asked about it.
    pub used_for: Duration,
    /// The number of the entry, the same in every process and in the store.
    pub id: u64,
}

/// What the store has for one id, all of one moment.
#[derive(Debug)]
#[non_exhaustive]
pub struct InStore<V> {
    /// What is stored.
    pub entry: Found<V>,
    /// What stands in the place of its lease.
    pub lease: Option<Standing>,
}

/// What lies under the key of an id.
#[derive(Debug)]
#[non_exhaustive]
pub enum Found<V> {
    /// Nothing.
    Nothing,
    /// Something that is no entry, or none that this cache can read. It is loaded anew.
    #[non_exhaustive]
    Unreadable {
        /// Why: `magic`, `version`, `truncated`, `too_large`, `corrupt`, `codec` or `shape`; `foreign_type` where it is no
        /// string and `no_expiry` where it has no end, and so neither was stored by this library.
        reason: &'static str,
        /// Its size; zero where it is no string.
        bytes: usize,
        /// How long it stays; zero where it has no end.
        left: Duration,
    },
    /// An entry.
    Entry(StoredEntry<V>),
}

/// An entry as it is stored.
#[non_exhaustive]
pub struct StoredEntry<V> {
    /// The value; `None` if the entry says that there is none.
    pub value: Option<Arc<V>>,
    /// The number of the entry.
    pub id: u64,
    /// What it takes in the store, in bytes, without its key.
    pub stored_bytes: usize,
    /// How long the value is in the form of its codec, in bytes.
    pub payload_bytes: usize,
    /// Whether that is compressed in the store.
    pub is_compressed: bool,
    /// The number of the [codec](crate::codec::Codec::id).
    pub codec: u8,
    /// The media type that the codec has written beside the value.
    pub content_type: Option<String>,
    /// What identifies this version of the value, such as an `ETag`.
    pub validator: Option<Arc<str>>,
    /// How long it has been stored.
    pub age: Duration,
    /// How long it will be fresh; zero when it is stale.
    pub fresh_for: Duration,
    /// How long it stays past its fresh life, or what of that is left.
    pub stale_for: Duration,
    /// How long its load took; zero where that was not measured.
    pub load_time: Duration,
    /// Whether nothing that it belongs to was invalidated since its load began: no tag of it, and not the whole space. What
    /// is not current is handed out to nobody. `None` where the store could not be asked about that.
    pub is_current: Option<bool>,
    /// Its tags.
    pub tags: Vec<TagState>,
}

/// A tag of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TagState {
    /// The tag; in its encoded form (`%~…`) if it is longer than 200 bytes.
    pub tag: String,
    /// Whether it was not invalidated since the load of the entry began, as far as the store still knows.
    pub is_current: Option<bool>,
}

/// What stands in the place of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// Somebody loads.
    #[non_exhaustive]
    Held {
        /// The first eight digits of the token, by which its holder can be known, and nobody can act for it.
        holder: String,
        /// How long it is held unless it is renewed.
        left: Duration,
        /// Whether another process waits for its end.
        is_awaited: bool,
    },
    /// A load failed; for so long nobody tries again who takes that for an answer.
    Failed(Duration),
    /// The last value was not to be stored; for so long every caller loads for itself.
    Unshared(Duration),
}

impl<V: Send + Sync + 'static> Cache<V> {
    /// Looks at `id` for an operator: at process memory and at the store, with what stands in the way of a load.
    ///
    /// It takes no lease, counts as no read, and changes nothing; a value that is stale, or was invalidated, is shown too.
    pub async fn inspect(&self, id: impl AsRef<str>) -> Inspection<V> {
        let (inner, id) = (&self.inner, Id::new(id.as_ref()));
        let memory = inner.shared.memory.tell(inner.space, &id.key);
        let memory = memory.map(|(local, meta)| inner.in_memory(&local, &meta));
        let store = match inner.backend.inspect(&id.key).await {
            Ok(seen) => Some(inner.in_store(seen).await),
            Err(_) => None,
        };
        Inspection { memory, store, is_under_way: inner.flights.has(&id.key) }
    }
}

impl<V: Send + Sync + 'static> Inner<V> {
    fn in_memory(&self, local: &Local, meta: &Meta) -> InMemory {
        let now = self.now();
        let used_for = meta.used_until.since(now);
        let heard = [TAGGED, self.numbers.epoch.now()].contains(&local.epoch);
        InMemory {
            is_in_use: heard && !used_for.is_zero() && self.is_known_current(local, meta),
            is_absence: local.value.is_none(),
            bytes: u64::from(local.bytes),
            age: now.since(meta.born),
            fresh_for: meta.fresh_until.since(now),
            used_for,
            id: meta.id,
        }
    }

    async fn in_store(&self, Seen { stored, foreign, held }: Seen) -> InStore<V> {
        let entry = match (foreign, &stored) {
            (Some(Foreign { reason, bytes, left }), _) => Found::Unreadable { reason, bytes, left },
            (None, None) => Found::Nothing,
            (None, Some(stored)) => self.found(stored).await,
        };
        InStore { entry, lease: held.map(|(held, left)| standing(held, left)) }
    }

    async fn found(&self, stored: &Stored) -> Found<V> {
        let (mut entry, stamp) = match self.describe(stored) {
            Ok(described) => described,
            Err(reason) => return Found::Unreadable { reason, bytes: stored.bytes.len(), left: stored.left },
        };
        let question = Question { tags: &stamp.tags, purpose: Purpose::Look };
        let known = self.backend.numbers(question, &mut self.backend.budget()).await.ok();
        entry.is_current =
            known.as_ref().map(|known| known.admits(&stamp) && !self.numbers.have_passed(&stamp));
        entry.tags = tags(&stamp, known.as_ref());
        Found::Entry(entry)
    }

    fn describe(&self, stored: &Stored) -> Result<(StoredEntry<V>, Stamp), &'static str> {
        let head = Head::read(&stored.bytes).map_err(Unreadable::reason)?;
        let envelope = head.decode(&stored.bytes, self.options.max_bytes).map_err(Unreadable::reason)?;
        if !envelope.absent && envelope.codec != self.codec.id() {
            return Err("codec");
        }
        let total = envelope.fresh_for.saturating_add(envelope.stale_for);
        let left = stored.left.min(total);
        let (payload_bytes, content_type) = (envelope.payload.len(), envelope.content_type.clone());
        let payload = Payload { bytes: envelope.payload, content_type: envelope.content_type };
        let value = match envelope.absent {
            true => None,
            false => Some(Arc::new(self.codec.decode(payload).map_err(|_| "shape")?)),
        };
        let entry = StoredEntry {
            value,
            id: envelope.entry_id,
            stored_bytes: stored.bytes.len(),
            payload_bytes,
            is_compressed: head.is_compressed(),
            codec: envelope.codec,
            content_type,
            validator: envelope.validator,
            age: total.saturating_sub(left),
            fresh_for: left.saturating_sub(envelope.stale_for),
            stale_for: left.min(envelope.stale_for),
            load_time: envelope.load_time,
            is_current: None,
            tags: Vec::new(),
        };
        Ok((entry, envelope.stamp))
    }
}

fn standing(held: Held, left: Duration) -> Standing {
    match held {
        Held::Lease { token, waited } => {
            let holder = token.to_string().chars().take(8).collect();
            Standing::Held { holder, left, is_awaited: waited }
        }
        Held::Note(Note::Failed) => Standing::Failed(left),
        Held::Note(Note::Unshared) => Standing::Unshared(left),
    }
}

fn tags(stamp: &Stamp, known: Option<&Known>) -> Vec<TagState> {
    let number = |at: usize| known.map(|known| known.tags.get(at).copied().flatten());
    let state = |(at, tag): (usize, &str)| TagState {
        tag: decode(tag).map_or_else(|| tag.to_owned(), Cow::into_owned),
        is_current: number(at).map(|number| number.is_some_and(|number| number <= stamp.number)),
    };
    stamp.tags.iter().map(|tag| &**tag).enumerate().map(state).collect()
}

impl<V> fmt::Debug for StoredEntry<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredEntry")
            .field("is_absence", &self.value.is_none())
            .field("stored_bytes", &self.stored_bytes)
            .field("fresh_for", &self.fresh_for)
            .field("stale_for", &self.stale_for)
            .field("is_current", &self.is_current)
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}
