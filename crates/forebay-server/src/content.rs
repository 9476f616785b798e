//! What the server's spaces hold: bytes with their content type.

use bytes::Bytes;
use forebay::{
    Error,
    codec::{Codec, Payload},
};

/// A value as a client sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) content_type: Option<String>,
    pub(crate) bytes: Bytes,
}

/// Stores a [`Content`] as it is.
///
/// Its id keeps the server's entries apart from those of typed caches under the same key.
#[derive(Debug)]
pub(crate) struct AsSent;

impl Codec<Content> for AsSent {
    fn id(&self) -> u8 {
        128
    }

    fn encode(&self, value: &Content) -> Result<Payload, Error> {
        Ok(Payload { bytes: value.bytes.clone(), content_type: value.content_type.clone() })
    }

    fn decode(&self, payload: Payload) -> Result<Content, Error> {
        Ok(Content { content_type: payload.content_type, bytes: payload.bytes })
    }
}
