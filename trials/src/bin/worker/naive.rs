//! A cache as it is often written by hand: get, load, set with a life, delete at a change; in front of it a map of this
//! process. What a check is to find has to be here.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Result;
use forebay_trials::{
    moment::Moment,
    order::{Origin, Outcome, Setup},
};
use redis::RedisResult;

use crate::{
    far::{Far, broken, done},
    origin::{Source, Value},
    shop::found,
};

/// For how long a value stays in the map, unless the setup names no memory at all.
pub(crate) const LOCAL: Duration = Duration::from_secs(1);

/// The values, each with when it came.
type Near = HashMap<String, (Moment, Arc<Value>)>;

#[derive(Clone)]
pub(crate) struct Naive {
    far: Far,
    near: Arc<Mutex<Near>>,
    local: Duration,
}

impl Naive {
    pub(crate) fn open(setup: &Setup) -> Result<Self> {
        let local = if setup.local_ms == Some(0) { Duration::ZERO } else { LOCAL };
        Ok(Self { far: Far::open(setup)?, near: Arc::default(), local })
    }

    pub(crate) async fn load(&self, id: &str, source: Source, origin: Origin) -> Outcome {
        match self.get(id).await {
            Ok(Some(value)) => return found(&value),
            Ok(None) => {}
            Err(error) => return broken(&error),
        }
        let Ok(value) = source.load(id.to_owned(), origin).await else { return Outcome::Failed };
        match self.far.set(id, &value).await {
            Ok(()) => {
                let answer = found(&value);
                self.remember(id, Arc::new(value));
                answer
            }
            Err(error) => broken(&error),
        }
    }

    pub(crate) async fn read(&self, id: &str) -> Outcome {
        match self.get(id).await {
            Ok(value) => value.map_or(Outcome::Nothing, |value| found(&value)),
            Err(error) => broken(&error),
        }
    }

    pub(crate) async fn put(&self, id: &str, value: Value) -> Outcome {
        done(self.far.set(id, &value).await)
    }

    pub(crate) async fn forget(&self, ids: &[String]) -> Outcome {
        ids.iter().for_each(|id| drop(self.near().remove(id)));
        done(self.far.delete(ids).await)
    }

    async fn get(&self, id: &str) -> RedisResult<Option<Arc<Value>>> {
        let near = self.near().get(id).cloned();
        if let Some((since, value)) = near
            && Moment::now().since(since) < self.local
        {
            return Ok(Some(value));
        }
        let value = self.far.get(id).await?;
        if let Some(value) = &value {
            self.remember(id, Arc::clone(value));
        }
        Ok(value)
    }

    fn remember(&self, id: &str, value: Arc<Value>) {
        self.near().insert(id.to_owned(), (Moment::now(), value));
    }

    fn near(&self) -> MutexGuard<'_, Near> {
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
