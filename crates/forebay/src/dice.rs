//! Chance as the crate sees it: tokens, entry ids and jitter, seeded where a test wants them repeated.

use std::sync::Arc;

use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

use crate::sync::Mutex;

/// A source of random numbers; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Dice(Option<Arc<Mutex<StdRng>>>);

impl Dice {
    /// Dice that fall as the operating system seeds them.
    pub fn fair() -> Self {
        Self(None)
    }

    /// Dice that fall the same way for the same `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self(Some(Arc::new(Mutex::new(StdRng::seed_from_u64(seed)))))
    }

    /// Any 64 bits.
    pub fn bits(&self) -> u64 {
        match &self.0 {
            None => rand::rng().next_u64(),
            Some(seeded) => seeded.lock().next_u64(),
        }
    }

    /// Any 128 bits.
    pub fn wide(&self) -> u128 {
        (u128::from(self.bits()) << 64) | u128::from(self.bits())
    }

    /// A number in `[-1, 1]`, uniformly.
    pub fn swing(&self) -> f64 {
        match &self.0 {
            None => rand::rng().random_range(-1.0..=1.0),
            Some(seeded) => seeded.lock().random_range(-1.0..=1.0),
        }
    }
}
