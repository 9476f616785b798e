//! What a counter tells.

use jiff::civil::Date;

/// How many different visitors came on some days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// How many, as estimated: in two of three cases it is off by at most [`Count::STANDARD_ERROR`].
    pub visitors: u64,
    /// The first of the days.
    pub from: Date,
    /// The last of the days.
    pub to: Date,
}

impl Count {
    /// The relative standard error of an estimate: that of a HyperLogLog with 16,384 registers.
    pub const STANDARD_ERROR: f64 = 0.0081;
}

/// How a counter stands, in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Figures {
    /// How many visitors wait to be counted.
    pub pending: usize,
    /// How many records were dropped since the counter was built: there was no room left for them, the store was not
    /// reached before shutdown, or their day was no longer kept when it was reached.
    pub dropped: u64,
}
