//! The way of an entry between its forms: opened for a reader, sealed for the store.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    backend::{Settle, Stored},
    entry::{Entry, Loaded, Source},
    envelope::{Envelope, Unreadable},
    inner::Inner,
    numbers::Stamp,
    options::Life,
    verdict::Answer,
};
use crate::{
    codec::Payload,
    error::{Error, ErrorKind},
    sync::atomic::Ordering::Relaxed,
};

/// A stored entry in the hands of its reader.
pub(crate) struct Opened<V> {
    pub(crate) answer: Answer<V>,
    pub(crate) id: u64,
    pub(crate) fresh_for: Duration,
    /// The life it has left, its stale life included.
    pub(crate) kept_for: Duration,
    pub(crate) bytes: usize,
    pub(crate) stamp: Stamp,
}

/// The most tags that a value has; each is asked for at every fill.
const MOST_TAGS: usize = 128;

/// A value in the form of its codec.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    envelope: Envelope,
    life: Life,
}

impl Draft {
    /// The tags that it has, with the number of the space when its load began.
    pub(crate) fn stamp(&self, number: u64) -> Stamp {
        Stamp { number, tags: self.envelope.stamp.tags.clone() }
    }

    pub(crate) fn life(&self) -> Life {
        self.life
    }

    /// The number of the entry.
    pub(crate) fn id(&self) -> u64 {
        self.envelope.entry_id
    }
}

/// A value on its way into the store.
pub(crate) struct Sealed {
    pub(crate) bytes: Bytes,
    life: Life,
}

impl Sealed {
    /// The step that stores it.
    pub(crate) fn into_fill(self) -> Settle {
        Settle::Fill { bytes: self.bytes, life: self.life.total() }
    }
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// Reads a stored entry; the error says why it cannot be read.
    pub(crate) fn open(&self, stored: &Stored) -> Result<Opened<V>, &'static str> {
        let envelope = Envelope::decode(&stored.bytes, self.options.max_bytes).map_err(Unreadable::reason)?;
        let total = envelope.fresh_for.saturating_add(envelope.stale_for);
        let left = stored.left.min(total);
        let fresh_for = left.saturating_sub(envelope.stale_for);
        let bytes = stored.bytes.len();
        self.weigh(bytes);
        if envelope.absent {
            let (id, stamp) = (envelope.entry_id, envelope.stamp);
            return Ok(Opened { answer: Answer::Absent, id, fresh_for, kept_for: left, bytes, stamp });
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
            stamp: envelope.stamp,
            load_time: envelope.load_time,
        };
        let (id, stamp) = (entry.id, entry.stamp.clone());
        Ok(Opened { id, fresh_for, kept_for: left, bytes, answer: Answer::Present(entry), stamp })
    }

    /// Writes `loaded` in the form of the codec.
    ///
    /// # Errors
    ///
    /// A value that has no form in the codec or a larger one than the space stores, or too many tags.
    pub(crate) fn draft(
        &self,
        loaded: &Loaded<V>,
        life: Life,
        id: u64,
        took: Duration,
    ) -> Result<Draft, Error> {
        if loaded.tags.len() > MOST_TAGS {
            let count = loaded.tags.len();
            return Err(self.refuse(&format!("a value has {count} tags; give it at most {MOST_TAGS}")));
        }
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
            stamp: Stamp { number: 0, tags: loaded.tags.as_slice().into() },
            ..Envelope::default()
        };
        if envelope.payload.len() > self.options.max_bytes {
            return Err(self.too_large(envelope.payload.len()));
        }
        Ok(Draft { envelope, life })
    }

    /// A remembered absence.
    pub(crate) fn draft_absence(&self, life: Life) -> Draft {
        let id = self.shared.context.dice.bits();
        let envelope = Envelope { absent: true, entry_id: id, fresh_for: life.fresh, ..Envelope::default() };
        Draft { envelope, life }
    }

    /// Writes `draft` in its stored form, loaded since the space had `number`.
    pub(crate) fn seal(&self, draft: Draft, number: u64) -> Sealed {
        let Draft { mut envelope, life } = draft;
        envelope.stamp.number = number;
        let bytes = envelope.encode(self.options.compress_above);
        if !envelope.absent {
            self.weigh(bytes.len());
        }
        Sealed { bytes, life }
    }

    pub(crate) fn too_large(&self, bytes: usize) -> Error {
        let (space, limit) = (&self.name, self.options.max_bytes);
        Error::new(
            ErrorKind::TooLarge,
            format!(
                "cache {space}: a value of {bytes} bytes is over the limit of {limit}; \
                 to store it, raise max_bytes, and local_bytes where that has no room for it"
            ),
        )
    }

    fn weigh(&self, bytes: usize) {
        let (bytes, mean) = (bytes as u64, self.mean_bytes.load(Relaxed));
        // What is not kept in the process needs no room there.
        if bytes > self.shared.memory.largest() {
            return;
        }
        let next = if mean == 0 { bytes } else { mean - mean / 8 + bytes / 8 };
        self.mean_bytes.store(next, Relaxed);
    }
}
