//! Drives caches over Redis, in the benchmark itself or in a program that it asks: one loop for all.
//!
//! `peers/python/driver.py` and `peers/node/driver.mjs` do the same in their languages.

mod callers;
mod hits;
mod memory;
mod miss;
mod order;
mod races;
mod serve;
mod stampede;
mod stopwatch;
mod zipf;

pub use self::{
    callers::call_all,
    hits::{fill, hits, key},
    memory::{nanoseconds, orders, serve_hits},
    miss::miss,
    order::{Cost, Fill, Hits, Lateness, Miss, Order, Races, Rate, Reads, Rush, Stampede},
    races::races,
    serve::serve,
    stampede::stampede,
    stopwatch::Stopwatch,
    zipf::zipf,
};
