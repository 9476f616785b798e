//! Locks over one Redis: what one costs that nobody else wants, and how it passes from one to the next.

mod contestant;
mod handover;
mod held;
mod queue;
mod uncontended;

use anyhow::Result;
use forebay_rig::Redis;
use tally::table::Table;
use tokio::runtime::Runtime;

use self::contestant::{Contestant, Contestants};
use super::Effort;
use crate::cores;

pub(crate) const ROW: &str = "lock";

/// Where locks are measured.
struct Place {
    runtime: Runtime,
    redis: Redis,
}

impl Place {
    fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(Self { runtime, redis: Redis::start() })
    }

    /// A place with the server on one core and its clients on another.
    fn apart() -> Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(1).on_thread_start(cores::keep_this_client).enable_all();
        let redis = Redis::start();
        cores::keep_server(redis.pid())?;
        Ok(Self { runtime: runtime.build()?, redis })
    }
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let mut tables = vec![uncontended::run(&Place::apart()?, effort)?];
    let place = Place::new()?;
    let mut contestants = Contestants::start(&place);
    tables.extend(queue::run(&place, &mut contestants, effort));
    tables.extend(held::run(&place, &mut contestants, effort));
    if let Some(missing) = &contestants.missing {
        for table in &mut tables {
            table.about += &format!("\nMissing: {missing}.");
        }
    }
    Ok(tables)
}
