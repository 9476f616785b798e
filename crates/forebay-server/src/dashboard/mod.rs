//! The page at `/`: its files, the figures it shows, and their last hour.
//!
//! Every figure that is a metric is read from the text of `/metrics`, so that the two cannot disagree.

mod columns;
mod history;
mod lists;
pub(crate) mod live;
mod monitored;
mod notes;
mod now;
mod page;
pub(crate) mod past;
pub(crate) mod rights;
mod sampler;
pub(crate) mod scrape;
mod visitors;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{Semaphore, watch};

use self::{history::History, live::Frames};
pub(crate) use self::{
    monitored::monitored,
    page::{asset, is_asset},
    sampler::sample,
    scrape::{Scrape, Series},
    visitors::count,
};

/// How many pages may be open at a time. Each is sent one and the same frame a second.
const PAGES: usize = 64;

/// What open pages share.
#[derive(Debug)]
pub(crate) struct Dashboard {
    history: Mutex<History>,
    frames: watch::Sender<Frames>,
    seats: Arc<Semaphore>,
    visitors: Mutex<Vec<visitors::Counter>>,
    monitored: Mutex<Value>,
}

impl Default for Dashboard {
    fn default() -> Self {
        Self {
            history: Mutex::default(),
            frames: watch::Sender::new(Frames::default()),
            seats: Arc::new(Semaphore::new(PAGES)),
            visitors: Mutex::default(),
            monitored: Mutex::default(),
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
