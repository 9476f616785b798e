//! Compresses payloads with zstd, in contexts that each thread reuses.

use std::cell::RefCell;

use bytes::Bytes;
use zstd::bulk::{Compressor, Decompressor};

use crate::error::{Error, ErrorKind};

thread_local! {
    static COMPRESSOR: RefCell<Compressor<'static>> = RefCell::default();
    static DECOMPRESSOR: RefCell<Decompressor<'static>> = RefCell::default();
}

/// Compresses `bytes` where that makes them smaller.
pub(crate) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut compressed = Vec::with_capacity(bytes.len().checked_sub(1)?);
    // Output that does not fit is the only failure, and it means that nothing was to be gained.
    COMPRESSOR.with_borrow_mut(|context| context.compress_to_buffer(bytes, &mut compressed)).ok()?;
    Some(compressed)
}

/// Restores what `compress` made smaller, and allocates no more than `limit` bytes for it.
pub(crate) fn decompress(bytes: &[u8], limit: usize) -> Result<Bytes, Error> {
    let size = Decompressor::upper_bound(bytes)
        .ok_or_else(|| Error::new(ErrorKind::Encode, "the compressed bytes do not state their size"))?;
    if size > limit {
        let message = format!("the entry expands to {size} bytes, of which {limit} are allowed");
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    DECOMPRESSOR.with_borrow_mut(|context| context.decompress(bytes, size)).map(Bytes::from).map_err(
        |source| Error::new(ErrorKind::Encode, "the bytes are not compressed data").with_source(source),
    )
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    // A frame whose header claims 2^40 bytes, and whose only block is empty.
    const BOMB: &[u8] = b"\x28\xB5\x2F\xFD\xE0\0\0\0\0\0\x01\0\0\x01\0\0";
    // The same without a claim.
    const SIZELESS: &[u8] = b"\x28\xB5\x2F\xFD\0\x58\x01\0\0";

    fn kind(bytes: &[u8], limit: usize) -> ErrorKind {
        decompress(bytes, limit).unwrap_err().kind()
    }

    #[test]
    fn returns_what_it_made_smaller() {
        let text = b"turbine ".repeat(1000);
        let compressed = compress(&text).unwrap();

        assert!(compressed.len() < 100);
        assert_eq!(decompress(&compressed, text.len()).unwrap(), text);
    }

    #[test]
    fn leaves_alone_what_does_not_become_smaller() {
        assert_eq!(compress(b""), None);
        assert_eq!(compress(b"turbine"), None);
        assert!(compress(&b"turbine ".repeat(1000)).is_some());
    }

    #[test]
    fn refuses_what_expands_past_the_limit() {
        let compressed = compress(&b"turbine ".repeat(1000)).unwrap();

        assert_eq!(kind(&compressed, 7999), ErrorKind::TooLarge);
    }

    #[test]
    fn refuses_what_claims_more_than_the_limit() {
        assert_eq!(kind(BOMB, 1 << 30), ErrorKind::TooLarge);
    }

    #[test]
    fn refuses_what_states_no_size() {
        assert_eq!(kind(SIZELESS, 10), ErrorKind::Encode);
    }

    proptest! {
        #[test]
        fn refuses_other_bytes(bytes in vec(any::<u8>(), 1..100)) {
            prop_assert!(decompress(&bytes, 1 << 20).is_err());
        }
    }
}
