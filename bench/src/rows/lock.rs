//! Locks over one Redis: what one costs that nobody else wants, and how it passes from one to the next.

mod contestant;
mod handover;
mod held;
mod queue;
mod uncontended;

use anyhow::Result;
use forebay_rig::Redis;
use tokio::runtime::Runtime;

use self::contestant::{Contestant, Contestants};
use super::Effort;
use crate::table::Table;

pub(crate) const ROW: &str = "lock";

/// Where locks are measured.
struct Place {
    runtime: Runtime,
    redis: Redis,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let place = Place {
        runtime: tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?,
        redis: Redis::start(),
    };
    let mut contestants = Contestants::start(&place);
    let mut tables = vec![uncontended::run(&place, &mut contestants, effort)?];
    tables.extend(queue::run(&place, &mut contestants, effort));
    tables.extend(held::run(&place, &mut contestants, effort));
    if let Some(missing) = &contestants.missing {
        for table in &mut tables {
            table.about += &format!("\nMissing: {missing}.");
        }
    }
    Ok(tables)
}
