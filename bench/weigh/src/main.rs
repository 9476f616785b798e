//! Weighs entries: heap bytes a piece, by an allocator that counts, which is why this is a program apart.
//!
//! For each number of entries among its arguments it prints a JSON object: contestant to bytes per entry.

use std::{alloc::System, any::Any};

use contest::Hold;
use serde_json::{Map, Value};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let contestants: [&dyn Hold; 5] = [
        &ours::Holder,
        &peer_quick_cache::Holder,
        &peer_moka::Holder,
        &peer_cached::Holder,
        &peer_dashmap::Holder,
    ];
    for argument in std::env::args().skip(1) {
        let count = argument.parse().expect("an argument is a number of entries");
        let keys = contest::keys(count);
        let weigh = |holder: &&dyn Hold| (holder.name().to_owned(), per_entry(*holder, &keys).into());
        let weights: Map<String, Value> = contestants.iter().map(weigh).collect();
        println!("{}", Value::from(weights));
    }
}

fn per_entry(holder: &dyn Hold, keys: &[String]) -> f64 {
    let all = heap_of(|| Some(holder.hold(keys)));
    let elsewhere = heap_of(|| holder.hold_elsewhere(keys));
    (all - elsewhere) as f64 / keys.len() as f64
}

/// The heap bytes that what `make` makes has, while it is there.
fn heap_of(make: impl FnOnce() -> Option<Box<dyn Any>>) -> i64 {
    let region = Region::new(COUNTING);
    let made = make();
    let change = region.change();
    drop(made);
    change.bytes_allocated as i64 - change.bytes_deallocated as i64
}
