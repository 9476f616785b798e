//! The way of an entry between its forms: opened for a reader, sealed for the store.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    backend::{Settle, Stored},
    entry::{Entry, Loaded, Source},
    envelope::{Envelope, Unreadable},
    inner::Inner,
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
}

/// A value on its way into the store.
#[derive(Clone)]
pub(crate) struct Sealed {
    pub(crate) bytes: Bytes,
    pub(crate) life: Life,
    pub(crate) id: u64,
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
            let id = envelope.entry_id;
            return Ok(Opened { answer: Answer::Absent, id, fresh_for, kept_for: left, bytes });
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
        Ok(Opened { id: entry.id, fresh_for, kept_for: left, bytes, answer: Answer::Present(entry) })
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
