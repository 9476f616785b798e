//! How large a filter is, and how many bits an id has in it.

use crate::error::{Error, ErrorKind};

/// The most bits of one value in Redis: 512 MiB of them.
const MOST_BITS: u64 = 1 << 32;

/// The lowest rate: below, 96 bits of an id and one bitmap do not keep ids apart as well as is asked.
const LOWEST_RATE: f64 = 1e-9;

/// The size of a bitmap, and the bits of an id in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(super) bits: u64,
    pub(super) hashes: u32,
}

impl Shape {
    /// The shape in which `capacity` ids are mistaken for others at most at `rate`.
    ///
    /// # Errors
    ///
    /// There is none; what is possible.
    pub(super) fn fit(name: &str, capacity: u64, rate: f64) -> Result<Self, Error> {
        let refused = |why: String| Err(Error::new(ErrorKind::Config, format!("filter {name}: {why}")));
        if capacity == 0 {
            return refused("its capacity is 0; say how many ids there may be".into());
        }
        if !(LOWEST_RATE..1.0).contains(&rate) {
            let bounds = format!("at least {LOWEST_RATE:e} and below 1");
            return refused(format!("a rate of {rate} is not possible; it must be {bounds}"));
        }
        let bits = bits(capacity as f64, rate);
        if bits > MOST_BITS as f64 {
            let most = (MOST_BITS as f64 * rate_bits(rate).recip()).floor();
            let bound =
                format!("{most} ids are the most at this rate, as a value in Redis has at most 512 MiB");
            return refused(format!(
                "{capacity} ids take {:.0} MiB; {bound}",
                bits / 8.0 / f64::from(1 << 20)
            ));
        }
        // No sooner would a bit less do, and whole words can be counted and compared.
        let bits = (bits.ceil() as u64).next_multiple_of(64);
        Ok(Self { bits, hashes: (-rate.log2()).round().max(1.0) as u32 })
    }

    pub(super) fn bytes(self) -> u64 {
        self.bits.div_ceil(8)
    }

    /// About how many ids there are where `share` of the bits is set.
    pub(super) fn ids(self, share: f64) -> u64 {
        let free = (1.0 - share).max(1.0 / self.bits as f64);
        (self.bits as f64 / f64::from(self.hashes) * -free.ln()).round() as u64
    }

    /// How often an id that is not there finds all its bits set, where `share` of them is.
    pub(super) fn rate(self, share: f64) -> f64 {
        share.powi(self.hashes.try_into().unwrap_or(i32::MAX))
    }
}

/// Bits for one id, at a rate that is approached from below as the filter fills up.
fn rate_bits(rate: f64) -> f64 {
    -rate.ln() / std::f64::consts::LN_2.powi(2)
}

/// The usual formula. In a small filter with a low rate, two ids would too often have the same first place and the
/// same step, and so all bits in common: there are `bits²` such pairs.
fn bits(capacity: f64, rate: f64) -> f64 {
    (capacity * rate_bits(rate)).max((20.0 * capacity / rate).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_filter_of_a_million_ids_at_a_percent_has_the_usual_size() {
        let shape = Shape::fit("case", 1_000_000, 0.01).unwrap();
        assert_eq!((shape.bits, shape.hashes), (9_585_088, 7));
    }

    // B4: RedisBloom aborts for want of memory, or adds nothing and finds everything.
    #[test]
    fn what_cannot_work_is_refused_with_the_bound() {
        let refused = [
            (0, 0.01, "capacity is 0"),
            (10, 0.0, "at least 1e-9 and below 1"),
            (10, -0.1, "at least 1e-9"),
            (10, 1.0, "below 1"),
            (10, f64::NAN, "a rate of NaN"),
            (10, f64::INFINITY, "a rate of inf"),
            (10, 1e-10, "at least 1e-9"),
            (1_000_000_000_000, 0.01, "448089842 ids are the most"),
            (u64::MAX, 0.5, "ids are the most"),
        ];
        for (capacity, rate, why) in refused {
            let error = Shape::fit("case", capacity, rate).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn the_bound_that_is_told_works() {
        Shape::fit("case", 448_089_842, 0.01).unwrap();
        Shape::fit("case", 448_089_843, 0.01).unwrap_err();
    }

    proptest! {
        #[test]
        fn what_fits_is_found_by_its_fill(capacity in 1_u64..400_000_000, rate in 1e-8..0.5_f64) {
            let Ok(shape) = Shape::fit("case", capacity, rate) else { return Ok(()) };
            let full = 1.0 - (-f64::from(shape.hashes) * capacity as f64 / shape.bits as f64).exp();
            prop_assert!(shape.rate(full) <= rate * 1.1, "{shape:?}: {}", shape.rate(full));
            prop_assert!(shape.ids(full).abs_diff(capacity) <= 1 + capacity / 1000);
            prop_assert!(shape.bits <= MOST_BITS && shape.bits.is_multiple_of(64));
        }
    }
}
