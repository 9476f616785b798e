//! Answers orders over a pipe.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
};

use contest::Shared;
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::{Order, fill, hits, miss, races, stampede};

/// Obeys until the input ends, as two processes: the second one only writes.
///
/// # Errors
///
/// A pipe breaks, or an order makes no sense.
///
/// # Panics
///
/// Panics if a task does.
pub fn serve(runtime: &Runtime, [reader, writer]: [Arc<dyn Shared>; 2]) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            Order::Fill(order) => say(&runtime.block_on(fill(&reader, order))),
            Order::Hits(order) => say(&runtime.block_on(hits(std::slice::from_ref(&reader), order))),
            Order::Stampede(order) => say(&runtime.block_on(stampede(std::slice::from_ref(&reader), order))),
            Order::Races(order) => say(&runtime.block_on(races(&reader, &writer, order))),
            Order::Miss(order) => say(&runtime.block_on(miss(&reader, order))),
        }?;
    }
    Ok(())
}

pub(crate) fn say(answer: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    out.write_all(b"\n")?;
    out.flush()
}
