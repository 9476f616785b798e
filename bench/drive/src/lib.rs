//! Drives caches over Redis, in the benchmark itself or in a program that it asks: one loop for all.
//!
//! `peers/python/driver.py` and `peers/node/driver.mjs` do the same in their languages.

mod callers;
mod hits;
mod miss;
mod order;
mod races;
mod serve;
mod stampede;
mod stopwatch;

pub use self::{
    callers::call_all,
    hits::{fill, hits, key},
    miss::miss,
    order::{Cost, Fill, Hits, Lateness, Miss, Order, Races, Rate, Rush, Stampede},
    races::races,
    serve::serve,
    stampede::stampede,
    stopwatch::Stopwatch,
};
