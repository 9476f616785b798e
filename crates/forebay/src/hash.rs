//! How the maps of the process hash: XXH3 from a seed that differs in every process, never for what is stored.

use std::hash::{BuildHasher, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Builds [`Xxh3`] hashers from one random seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(rand::random())
    }
}

impl BuildHasher for Seed {
    type Hasher = Xxh3;

    #[inline]
    fn build_hasher(&self) -> Xxh3 {
        Xxh3(self.0)
    }
}

/// Chains one-shot XXH3 over what is written: for short keys cheaper than the streaming state.
#[derive(Debug)]
pub(crate) struct Xxh3(u64);

impl Hasher for Xxh3 {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
