//! What an execution has brought, as bytes that are handed out again.

use std::fmt;

use bytes::Bytes;

/// What an execution has brought. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Record {
    bytes: Bytes,
    omitted: bool,
}

impl Record {
    /// Makes a record of `bytes`.
    #[must_use]
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), omitted: false }
    }

    /// Makes the record of something that was done and whose bytes are not kept.
    #[must_use]
    pub const fn omitted() -> Self {
        Self { bytes: Bytes::new(), omitted: true }
    }

    /// Borrows the bytes. There are none where they were omitted.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether it is known that it was done, but not what it brought: that was larger than
    /// [`Builder::max_record`](super::Builder::max_record).
    #[must_use]
    pub const fn is_omitted(&self) -> bool {
        self.omitted
    }

    /// The record itself, or that of something too large to keep.
    pub(super) fn within(self, most: usize) -> Self {
        if self.bytes.len() > most { Self::omitted() } else { self }
    }
}

/// Shows the size alone: the bytes are the application's.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.omitted {
            true => f.write_str("Record(omitted)"),
            false => write!(f, "Record({} bytes)", self.bytes.len()),
        }
    }
}
