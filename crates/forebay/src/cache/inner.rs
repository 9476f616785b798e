//! What the clones of one cache share, and the way of an entry between its forms: stored, local, handed out.

use std::{any::Any, borrow::Cow, fmt, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    backend::{Backend, Stored},
    breaker::Breaker,
    bulkhead::Bulkhead,
    entry::{Entry, Loaded, Source},
    envelope::{Envelope, Unreadable},
    fence::{Epoch, Fence},
    flights::Flights,
    local::{Local, Memory},
    options::{Life, Options},
    slots::Space,
    stats::Counts,
    verdict::Answer,
    waits::Waits,
};
use crate::{
    clock::Moment,
    codec::{Codec, Payload},
    context::Context,
    error::{Error, ErrorKind},
    key::{Name, encode},
    observe::{Event, FillOutcome},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// What all caches of a `Forebay` share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) context: Context,
    pub(crate) memory: Arc<Memory>,
    pub(crate) epoch: Arc<Epoch>,
    pub(crate) waits: Arc<Waits>,
    /// Bounds the loads that no lease bounds.
    pub(crate) outage: Bulkhead,
}

/// What the clones of one cache share.
pub(crate) struct Inner<V> {
    pub(crate) name: Name,
    pub(crate) space: Space,
    pub(crate) options: Options,
    pub(crate) codec: Arc<dyn Codec<V>>,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) shared: Shared,
    pub(crate) flights: Flights<V>,
    pub(crate) bulkhead: Option<Bulkhead>,
    pub(crate) breaker: Option<Breaker>,
    pub(crate) counts: Counts,
    /// The mean size of the space's entries, smoothed: what a running load is expected to bring.
    pub(crate) mean: AtomicU64,
}

/// An id as its caller spelled it, and as it is spelled in keys.
#[derive(Debug, Clone)]
pub(crate) struct Id {
    pub(crate) given: Arc<str>,
    pub(crate) key: Arc<str>,
}

impl Id {
    pub(crate) fn new(given: &str) -> Self {
        let whole: Arc<str> = given.into();
        match encode(given) {
            Cow::Borrowed(same) if same.len() == given.len() => Self { key: whole.clone(), given: whole },
            encoded => Self { key: encoded.as_ref().into(), given: whole },
        }
    }
}

/// A stored entry in the hands of its reader.
pub(crate) struct Opened<V> {
    pub(crate) answer: Answer<V>,
    pub(crate) id: u64,
    pub(crate) fresh_for: Duration,
    pub(crate) bytes: usize,
}

/// A value on its way into the store.
pub(crate) struct Sealed {
    pub(crate) bytes: Bytes,
    pub(crate) life: Life,
    pub(crate) id: u64,
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// What process memory has for `key` and may still use.
    #[inline]
    pub(crate) fn recall(&self, key: &str) -> Option<Arc<Local>> {
        self.shared.memory.get(self.space, key).filter(|local| self.is_usable(local))
    }

    #[inline]
    fn is_usable(&self, local: &Local) -> bool {
        local.until > self.shared.context.clock.coarse() && local.epoch == self.shared.epoch.now()
    }

    /// The value of a hit in process memory; counts it.
    #[inline]
    pub(crate) fn hit(&self, id: &str) -> Option<Arc<V>> {
        let local = self.recall(&encode(id))?;
        let value = local.value.clone()?.downcast::<V>().ok()?;
        self.counts.memory_hit();
        Some(value)
    }

    /// `local` as it is handed out; `None` for a value of another type, which this space never stores.
    pub(crate) fn present(&self, local: &Local) -> Option<Answer<V>> {
        let now = self.shared.context.clock.coarse();
        let Some(value) = local.value.clone() else { return Some(Answer::Absent) };
        Some(Answer::Present(Entry {
            value: value.downcast::<V>().ok()?,
            age: now.since(local.born),
            fresh_for: local.fresh_until.since(now),
            source: Source::Memory,
            validator: local.validator.clone(),
            id: local.id,
        }))
    }

    /// Puts `answer` into process memory, unless something has overtaken it on its way.
    pub(crate) fn memorize(&self, key: &str, fence: &Fence, opened: &Opened<V>) {
        let local_life = self.options.local_time_to_live.min(opened.fresh_for);
        if local_life.is_zero() {
            return;
        }
        let now = self.shared.context.clock.now();
        let (value, age, validator) = match &opened.answer {
            Answer::Present(entry) => {
                let value: Arc<dyn Any + Send + Sync> = entry.value.clone();
                (Some(value), entry.age, entry.validator.clone())
            }
            Answer::Absent => (None, Duration::ZERO, None),
        };
        fence.pass(&self.shared.epoch, |epoch| {
            let local = Local {
                value,
                until: now.after(local_life),
                epoch,
                bytes: opened.bytes as u64,
                id: opened.id,
                born: now.before(age),
                fresh_until: now.after(opened.fresh_for),
                validator,
            };
            self.shared.memory.insert(self.space, key, local);
        });
    }

    /// Reads a stored entry; the error says why it cannot be read.
    pub(crate) fn open(&self, stored: &Stored) -> Result<Opened<V>, &'static str> {
        let envelope = Envelope::decode(&stored.bytes, self.options.max_bytes).map_err(Unreadable::reason)?;
        let total = envelope.fresh_for.saturating_add(envelope.stale_for);
        let left = stored.left.min(total);
        let fresh_for = left.saturating_sub(envelope.stale_for);
        let bytes = stored.bytes.len();
        self.weigh(bytes);
        if envelope.absent {
            return Ok(Opened { answer: Answer::Absent, id: envelope.entry_id, fresh_for, bytes });
        }
        if envelope.codec != self.codec.id() {
            return Err("codec");
        }
        let payload = Payload { bytes: envelope.payload, content_type: envelope.content_type };
        let entry = Entry {
            value: Arc::new(self.codec.decode(payload).map_err(|_| "shape")?),
            age: total.saturating_sub(left),
            fresh_for,
            source: Source::Store,
            validator: envelope.validator,
            id: envelope.entry_id,
        };
        Ok(Opened { id: entry.id, fresh_for, bytes, answer: Answer::Present(entry) })
    }

    /// Writes `loaded` in its stored form.
    ///
    /// # Errors
    ///
    /// A value that has no form in the codec, or a larger one than the space stores.
    pub(crate) fn seal(
        &self,
        loaded: &Loaded<V>,
        life: Life,
        id: u64,
        took: Duration,
    ) -> Result<Sealed, Error> {
        let payload = self.codec.encode(&loaded.value)?;
        let envelope = Envelope {
            codec: self.codec.id(),
            entry_id: id,
            fresh_for: life.fresh,
            stale_for: life.stale,
            load_time: took,
            validator: loaded.validator.clone(),
            content_type: payload.content_type,
            payload: payload.bytes,
            ..Envelope::default()
        };
        if envelope.payload.len() > self.options.max_bytes {
            return Err(self.too_large(envelope.payload.len()));
        }
        let bytes = envelope.encode(self.options.compress_above);
        self.weigh(bytes.len());
        Ok(Sealed { bytes, life, id })
    }

    /// A remembered absence in its stored form.
    pub(crate) fn seal_absence(&self, life: Life) -> Sealed {
        let id = self.shared.context.dice.bits();
        let envelope = Envelope { absent: true, entry_id: id, fresh_for: life.fresh, ..Envelope::default() };
        Sealed { bytes: envelope.encode(usize::MAX), life, id }
    }

    pub(crate) fn too_large(&self, bytes: usize) -> Error {
        let (space, limit) = (&self.name, self.options.max_bytes);
        Error::new(
            ErrorKind::TooLarge,
            format!(
                "cache {space}: a value of {bytes} bytes is over max_bytes ({limit}); raise max_bytes to store it"
            ),
        )
    }

    /// Drops `key` from this process and overtakes what is under way for it.
    pub(crate) fn overtake(&self, key: &str) {
        // Fences first: what passes one afterwards would not be found by the removal.
        self.flights.detach(key);
        self.shared.memory.remove(self.space, key);
    }

    pub(crate) fn unreadable(&self, reason: &'static str) {
        self.record(Event::Unreadable { space: self.name.as_str(), reason });
    }

    pub(crate) fn filled(&self, outcome: FillOutcome) {
        self.record(Event::Fill { space: self.name.as_str(), outcome });
    }

    pub(crate) fn record(&self, event: Event<'_>) {
        self.counts.record(&event);
        self.shared.context.observe.record(event);
    }

    pub(crate) fn now(&self) -> Moment {
        self.shared.context.clock.now()
    }

    fn weigh(&self, bytes: usize) {
        let (bytes, mean) = (bytes as u64, self.mean.load(Relaxed));
        // What is not kept in the process needs no room there.
        if bytes > self.shared.memory.largest() {
            return;
        }
        let next = if mean == 0 { bytes } else { mean - mean / 8 + bytes / 8 };
        self.mean.store(next, Relaxed);
    }
}

impl<V> fmt::Debug for Inner<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("space", &self.name).finish_non_exhaustive()
    }
}
