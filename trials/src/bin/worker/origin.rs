//! What is slow behind the cache: a counter that sleeps, or a row with a version in SQLite.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Result;
use forebay_trials::{
    moment::Moment,
    order::{Load, Origin},
    rows,
};
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Value {
    pub(crate) version: u64,
    pub(crate) pid: u32,
    pub(crate) more: String,
}

#[derive(Debug)]
pub(crate) struct Failed;

/// The origin of this process, which remembers its loads.
#[derive(Clone)]
pub(crate) struct Source {
    rows: Option<SqlitePool>,
    loads: Arc<Mutex<Loads>>,
}

#[derive(Default)]
struct Loads {
    begun: u64,
    /// Those of which nobody has been told that they ended.
    untold: Vec<(u64, Load)>,
}

impl Source {
    pub(crate) async fn open(database: Option<&Path>) -> Result<Self> {
        let Some(path) = database else { return Ok(Self { rows: None, loads: Arc::default() }) };
        Ok(Self { rows: Some(rows::open_things(path).await?), loads: Arc::default() })
    }

    pub(crate) async fn load(self, id: String, origin: Origin) -> Result<Value, Failed> {
        let number = self.begin(&id);
        let value = match origin {
            Origin::Counter { ms, bytes } => {
                pause(ms).await;
                Ok(value(number, bytes))
            }
            Origin::Failure { ms } => {
                pause(ms).await;
                Err(Failed)
            }
            Origin::Row { ms } => {
                let version = rows::read(self.rows(), &id).await;
                pause(ms).await;
                Ok(value(version, 0))
            }
        };
        self.end(number);
        value
    }

    pub(crate) async fn raise(&self, id: &str) -> u64 {
        rows::raise(self.rows(), id).await
    }

    /// Tells of the loads that began since the last time, and of those that still ran then.
    pub(crate) fn tell(&self) -> Vec<Load> {
        let mut loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        let told = loads.untold.iter().map(|(_, load)| load.clone()).collect();
        loads.untold.retain(|(_, load)| load.ended.is_none());
        told
    }

    fn rows(&self) -> &SqlitePool {
        self.rows.as_ref().expect("the setup names a database")
    }

    fn begin(&self, id: &str) -> u64 {
        let mut loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        loads.begun += 1;
        let number = loads.begun;
        loads.untold.push((number, Load { id: id.to_owned(), began: Moment::now(), ended: None }));
        number
    }

    fn end(&self, number: u64) {
        let mut loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, load)) = loads.untold.iter_mut().find(|(other, _)| *other == number) {
            load.ended = Some(Moment::now());
        }
    }
}

pub(crate) fn value(version: u64, bytes: usize) -> Value {
    Value { version, pid: std::process::id(), more: "x".repeat(bytes) }
}

async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
