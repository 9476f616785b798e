//! Hits in process memory, as fast as threads go.

use std::{
    io::{self, BufRead},
    sync::Barrier,
    thread,
};

use contest::Hit;

use crate::{Reads, serve::say, stopwatch::Stopwatch, zipf};

/// The nanoseconds of a thread for one hit, the mean over a thread for each of `orders`, all at once.
///
/// # Panics
///
/// Panics if a read does.
pub fn nanoseconds(side: &dyn Hit, keys: &[String], orders: &[Vec<u32>]) -> f64 {
    let start = Barrier::new(orders.len());
    let read = |order: &Vec<u32>| {
        start.wait();
        let watch = Stopwatch::start();
        side.read_all(keys, order);
        watch.elapsed().as_nanos() as f64 / order.len() as f64
    };
    thread::scope(|scope| {
        let threads: Vec<_> = orders.iter().map(|order| scope.spawn(|| read(order))).collect();
        let times =
            threads.into_iter().map(|thread| thread.join().expect("a contestant reads without panic"));
        times.sum::<f64>() / orders.len() as f64
    })
}

/// An order for each thread, always the same.
pub fn orders(keys: usize, Reads { threads, reads }: Reads) -> Vec<Vec<u32>> {
    (1..=threads).map(|seed| zipf(keys as u32, reads, seed)).collect()
}

/// Obeys [`Reads`] until the input ends.
///
/// # Errors
///
/// A pipe breaks, or an order makes no sense.
///
/// # Panics
///
/// Panics if a read does.
pub fn serve_hits(side: &dyn Hit, keys: &[String]) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let reads: Reads = serde_json::from_str(&line?)?;
        say(&nanoseconds(side, keys, &orders(keys.len(), reads)))?;
    }
    Ok(())
}
