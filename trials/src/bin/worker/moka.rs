//! moka before Redis, as both are put together by hand: one load in a process, and none of its own in any other.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use forebay_trials::order::{Origin, Outcome, Setup};
use moka::future::Cache;

use crate::{
    far::{Far, broken, done},
    naive::LOCAL,
    origin::{Source, Value},
    shop::found,
};

const ROOM: u64 = 100_000;

#[derive(Clone)]
pub(crate) struct Moka {
    far: Far,
    near: Cache<String, Arc<Value>>,
}

impl Moka {
    pub(crate) fn open(setup: &Setup) -> Result<Self> {
        let local = if setup.local_ms == Some(0) { Duration::ZERO } else { LOCAL };
        let near = Cache::builder().max_capacity(ROOM).time_to_live(local).build();
        Ok(Self { far: Far::open(setup)?, near })
    }

    pub(crate) async fn load(&self, id: &str, source: Source, origin: Origin) -> Outcome {
        let loading = async {
            if let Some(value) = self.far.get(id).await.map_err(|error| broken(&error))? {
                return Ok(value);
            }
            let value = source.load(id.to_owned(), origin).await.map_err(|_| Outcome::Failed)?;
            self.far.set(id, &value).await.map_err(|error| broken(&error))?;
            Ok(Arc::new(value))
        };
        let loaded: Result<_, Arc<Outcome>> = self.near.try_get_with(id.to_owned(), loading).await;
        loaded.map_or_else(|error| (*error).clone(), |value| found(&value))
    }

    pub(crate) async fn read(&self, id: &str) -> Outcome {
        if let Some(value) = self.near.get(id).await {
            return found(&value);
        }
        match self.far.get(id).await {
            Ok(value) => value.map_or(Outcome::Nothing, |value| found(&value)),
            Err(error) => broken(&error),
        }
    }

    pub(crate) async fn put(&self, id: &str, value: Value) -> Outcome {
        self.near.invalidate(id).await;
        done(self.far.set(id, &value).await)
    }

    pub(crate) async fn forget(&self, ids: &[String]) -> Outcome {
        let deleted = self.far.delete(ids).await;
        for id in ids {
            self.near.invalidate(id).await;
        }
        done(deleted)
    }
}
