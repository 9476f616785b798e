//! The binary form in which a store keeps an entry of the cache.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 3 | magic, which is not UTF-8 |
//! | 3 | 1 | envelope version |
//! | 4 | 1 | flags: 1 absent, 2 compressed |
//! | 5 | 1 | id of the codec |
//! | 6 | 8 | id of the entry |
//! | 14 | 8 | full fresh life in ms |
//! | 22 | 8 | life past it, as a stale entry, in ms |
//! | 30 | 4 | length of the header fields |
//! | 34 | 8 | length of the payload |
//! | 42 | | header fields: kind (1), length (4), content |
//! | | | payload |
//!
//! Numbers are big-endian. Scripts compare what lies before the lengths, so those offsets never change. A
//! reader skips header fields of kinds that it does not know; a flag says how to read the payload, so an
//! unknown one makes the entry unreadable. A new version is read one release before it is written.

#[cfg(test)]
mod tests;

use std::{cmp::Ordering, ops::RangeInclusive, sync::Arc, time::Duration};

use bytes::Bytes;

use super::numbers::Stamp;
use crate::{
    codec::{compress, decompress},
    error::{Error, ErrorKind},
};

const MAGIC: [u8; 3] = [0xFB, b'b', b'y'];
const WRITTEN: u8 = 1;
const READABLE: RangeInclusive<u8> = 1..=2;

const VERSION_AT: usize = 3;
const FLAGS_AT: usize = 4;
const CODEC_AT: usize = 5;
const ENTRY_ID_AT: usize = 6;
const FRESH_FOR_AT: usize = 14;
const STALE_FOR_AT: usize = 22;
const FIELDS_LENGTH_AT: usize = 30;
const PAYLOAD_LENGTH_AT: usize = 34;
const FIELDS_AT: usize = 42;

const ABSENT: u8 = 1;
const COMPRESSED: u8 = 2;

const LOAD_TIME: u8 = 1;
const VALIDATOR: u8 = 2;
const CONTENT_TYPE: u8 = 3;
const SPACE_NUMBER: u8 = 4;
const TAG: u8 = 5;
const FIELD_HEAD: usize = 5;

/// An entry: what it says about itself, and its payload.
///
/// Lives count in whole milliseconds, the load time in microseconds; what is finer is cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) absent: bool,
    pub(crate) codec: u8,
    pub(crate) entry_id: u64,
    pub(crate) fresh_for: Duration,
    pub(crate) stale_for: Duration,
    pub(crate) load_time: Duration,
    pub(crate) validator: Option<Arc<str>>,
    pub(crate) content_type: Option<String>,
    pub(crate) stamp: Stamp,
    pub(crate) payload: Bytes,
}

/// The part of an envelope that can be read without the rest, as scripts do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) entry_id: u64,
    pub(crate) fresh_for: Duration,
    pub(crate) stale_for: Duration,
    flags: u8,
    codec: u8,
    fields_length: u32,
    payload_length: u64,
}

/// Says why bytes are not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Magic,
    Version,
    Truncated,
    TooLarge,
    Corrupt,
}

impl Unreadable {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Magic => "magic",
            Self::Version => "version",
            Self::Truncated => "truncated",
            Self::TooLarge => "too_large",
            Self::Corrupt => "corrupt",
        }
    }
}

impl Head {
    /// Reads the rest of the entry that begins so, as [`Envelope::decode`] does.
    pub(crate) fn decode(&self, bytes: &Bytes, limit: usize) -> Result<Envelope, Unreadable> {
        let payload_at = self.payload_at(bytes.len())?;
        let mut envelope = Envelope {
            absent: self.flags & ABSENT != 0,
            codec: self.codec,
            entry_id: self.entry_id,
            fresh_for: self.fresh_for,
            stale_for: self.stale_for,
            ..Envelope::default()
        };
        envelope.read_fields(&bytes[FIELDS_AT..payload_at])?;
        envelope.payload = if self.flags & COMPRESSED != 0 {
            decompress(&bytes[payload_at..], limit)?
        } else if bytes.len() - payload_at <= limit {
            bytes.slice(payload_at..)
        } else {
            return Err(Unreadable::TooLarge);
        };
        Ok(envelope)
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        if !bytes.starts_with(&MAGIC) {
            return Err(if MAGIC.starts_with(bytes) { Unreadable::Truncated } else { Unreadable::Magic });
        }
        let bytes: &[u8; FIELDS_AT] = bytes.first_chunk().ok_or(Unreadable::Truncated)?;
        let flags = bytes[FLAGS_AT];
        if !READABLE.contains(&bytes[VERSION_AT]) || flags & !(ABSENT | COMPRESSED) != 0 {
            return Err(Unreadable::Version);
        }
        Ok(Self {
            entry_id: number_at(bytes, ENTRY_ID_AT),
            fresh_for: Duration::from_millis(number_at(bytes, FRESH_FOR_AT)),
            stale_for: Duration::from_millis(number_at(bytes, STALE_FOR_AT)),
            flags,
            codec: bytes[CODEC_AT],
            fields_length: u32::from_be_bytes(chunk_at(bytes, FIELDS_LENGTH_AT)),
            payload_length: number_at(bytes, PAYLOAD_LENGTH_AT),
        })
    }

    /// The id of an entry as scripts see it, who look no further than at the lives.
    pub(crate) fn id(bytes: &[u8]) -> Option<u64> {
        let head: &[u8; FIELDS_LENGTH_AT] = bytes.first_chunk()?;
        let readable = head.starts_with(&MAGIC) && READABLE.contains(&head[VERSION_AT]);
        readable.then(|| number_at(head, ENTRY_ID_AT))
    }

    /// Whether the payload is compressed.
    pub(crate) fn is_compressed(&self) -> bool {
        self.flags & COMPRESSED != 0
    }

    /// Gives the offset of the payload in an entry of `length` bytes.
    fn payload_at(&self, length: usize) -> Result<usize, Unreadable> {
        let claimed = (FIELDS_AT as u64 + u64::from(self.fields_length)).saturating_add(self.payload_length);
        match claimed.cmp(&(length as u64)) {
            Ordering::Less => Err(Unreadable::Corrupt),
            Ordering::Equal => Ok(FIELDS_AT + self.fields_length as usize),
            Ordering::Greater => Err(Unreadable::Truncated),
        }
    }
}

impl Envelope {
    /// Writes the entry; a payload longer than `compress_above` bytes is compressed where that makes it smaller.
    pub(crate) fn encode(&self, compress_above: usize) -> Bytes {
        let compressed = if self.payload.len() > compress_above { compress(&self.payload) } else { None };
        let payload = compressed.as_deref().unwrap_or(&self.payload);
        let flags = u8::from(self.absent) * ABSENT + u8::from(compressed.is_some()) * COMPRESSED;

        let mut fields_length = 0;
        self.each_field(|_, content| fields_length += FIELD_HEAD + content.len());

        let mut bytes = Vec::with_capacity(FIELDS_AT + fields_length + payload.len());
        bytes.extend(MAGIC);
        bytes.extend([WRITTEN, flags, self.codec]);
        bytes.extend(self.entry_id.to_be_bytes());
        bytes.extend(whole(self.fresh_for.as_millis()).to_be_bytes());
        bytes.extend(whole(self.stale_for.as_millis()).to_be_bytes());
        bytes.extend(length(fields_length).to_be_bytes());
        bytes.extend((payload.len() as u64).to_be_bytes());
        self.each_field(|kind, content| {
            bytes.push(kind);
            bytes.extend(length(content.len()).to_be_bytes());
            bytes.extend_from_slice(content);
        });
        bytes.extend_from_slice(payload);
        bytes.into()
    }

    /// Reads an entry whose payload has at most `limit` bytes. Where it is not compressed, it is a slice of `bytes`.
    pub(crate) fn decode(bytes: &Bytes, limit: usize) -> Result<Self, Unreadable> {
        Head::read(bytes)?.decode(bytes, limit)
    }

    fn each_field(&self, mut each: impl FnMut(u8, &[u8])) {
        each(LOAD_TIME, &whole(self.load_time.as_micros()).to_be_bytes());
        if let Some(validator) = &self.validator {
            each(VALIDATOR, validator.as_bytes());
        }
        if let Some(content_type) = &self.content_type {
            each(CONTENT_TYPE, content_type.as_bytes());
        }
        if self.stamp.number != 0 {
            each(SPACE_NUMBER, &self.stamp.number.to_be_bytes());
        }
        for tag in &*self.stamp.tags {
            each(TAG, tag.as_bytes());
        }
    }

    fn read_fields(&mut self, mut fields: &[u8]) -> Result<(), Unreadable> {
        let mut tags: Vec<Box<str>> = Vec::new();
        while !fields.is_empty() {
            let (kind, content) = next_field(&mut fields).ok_or(Unreadable::Corrupt)?;
            match kind {
                LOAD_TIME => self.load_time = Duration::from_micros(number(content)?),
                VALIDATOR => self.validator = Some(text(content)?.into()),
                CONTENT_TYPE => self.content_type = Some(text(content)?.to_owned()),
                SPACE_NUMBER => self.stamp.number = number(content)?,
                TAG => tags.push(text(content)?.into()),
                _ => {}
            }
        }
        self.stamp.tags = tags.into_iter().collect();
        Ok(())
    }
}

impl From<Error> for Unreadable {
    fn from(error: Error) -> Self {
        if error.kind() == ErrorKind::TooLarge { Self::TooLarge } else { Self::Corrupt }
    }
}

fn next_field<'a>(fields: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let kind = *fields.split_off_first()?;
    let length = u32::from_be_bytes(fields.split_off(..4)?.try_into().ok()?);
    Some((kind, fields.split_off(..length as usize)?))
}

fn text(content: &[u8]) -> Result<&str, Unreadable> {
    str::from_utf8(content).map_err(|_| Unreadable::Corrupt)
}

fn number(content: &[u8]) -> Result<u64, Unreadable> {
    content.try_into().map(u64::from_be_bytes).map_err(|_| Unreadable::Corrupt)
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(chunk_at(bytes, at))
}

fn chunk_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("every fixed field lies before the header fields")
}

fn whole(units: u128) -> u64 {
    u64::try_from(units).unwrap_or(u64::MAX)
}

// A header field past 4 GiB makes the entry unreadable, which is a miss; it is not worth an error.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
