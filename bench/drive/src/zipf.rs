//! The order in which keys are asked for: few often, most seldom.

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use rand_distr::{Distribution, Zipf};

/// `reads` draws out of `keys` keys by Zipf's law with exponent 0.99; the same `seed` draws the same.
///
/// Which keys are the popular ones is shuffled, so that they do not lie side by side in memory.
pub fn zipf(keys: u32, reads: usize, seed: u64) -> Vec<u32> {
    let mut popularity: Vec<u32> = (0..keys).collect();
    popularity.shuffle(&mut StdRng::seed_from_u64(0));
    let law = Zipf::new(f64::from(keys), 0.99).expect("the exponent is positive");
    let draws = law.sample_iter(StdRng::seed_from_u64(seed));
    draws.take(reads).map(|rank| popularity[rank as usize - 1]).collect()
}
