//! What a filter knows of an id: enough to find its bits, and nothing else.

/// The first bytes of an id's BLAKE3 hash. They are stored, as bits: another hash would be another filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark([u8; Mark::BYTES]);

impl Mark {
    /// Two numbers of 48 bits, which a script can hold exactly: the first place, and the step to the next.
    pub(super) const BYTES: usize = 12;

    pub(crate) fn of(id: &str) -> Self {
        let hash = blake3::hash(id.as_bytes());
        let (mark, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        Self(*mark)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// For a filter that finds its bits by one number.
    pub(super) fn number(self) -> u64 {
        let (number, _) = self.0.split_first_chunk().expect("there are 12 bytes");
        u64::from_be_bytes(*number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leaves_the_same_mark_for_ever() {
        let marks = ["", "p-001", "ü"].map(|id| hex::encode(Mark::of(id).bytes()));
        assert_eq!(
            marks,
            ["af1349b9f5f9a1a6a0404dea", "522aa55777cc75387d90ca59", "9b7670f4a74372fd062c05a4"]
        );
        assert_eq!(Mark::of("").number(), 0xaf13_49b9_f5f9_a1a6);
    }
}
