//! A visitor as it is sent and stored: a hash of the id, which has one length and is not the id.

use std::hash::{Hash, Hasher};

const LENGTH: usize = 16;

/// The first 16 bytes of the BLAKE3 hash of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visitor([u8; LENGTH]);

impl Visitor {
    pub(super) fn of(id: &str) -> Self {
        let hash = blake3::hash(id.as_bytes());
        Self(*hash.as_bytes().first_chunk().expect("a hash has 32 bytes"))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Half of the hash: any bits of it are as good as a hash of their own.
    pub(super) fn bits(self) -> u64 {
        u64::from_le_bytes(*self.0.first_chunk().expect("8 are fewer than 16"))
    }
}

impl Hash for Visitor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Whoever counts in the same keys by other means computes the same.
    #[test]
    fn a_visitor_is_the_same_for_ever() {
        assert_eq!(hex::encode(Visitor::of("").bytes()), "af1349b9f5f9a1a6a0404dea36dcc949");
        assert_eq!(
            hex::encode(Visitor::of("user:42").bytes()),
            hex::encode(&blake3::hash(b"user:42").as_bytes()[..16])
        );
    }
}
