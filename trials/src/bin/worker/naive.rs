//! A cache as it is often written by hand: get, load, set with a life, delete at a change; in front of it a map of this
//! process. What a check is to find has to be here.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use anyhow::Result;
use forebay_trials::{
    moment::Moment,
    order::{Origin, Outcome, Setup},
};
use redis::{Client, Cmd, FromRedisValue, RedisError, RedisResult, aio::MultiplexedConnection, cmd};
use tokio::{sync::Mutex, time::timeout};

use crate::{
    origin::{Source, Value},
    shop::found,
};

/// For how long a value stays in the map, unless the setup names no memory at all.
const LOCAL: Duration = Duration::from_secs(1);
const BUDGET_MS: u64 = 50;
const FRESH_MS: u64 = 3_600_000;

#[derive(Clone)]
pub(crate) struct Naive(Arc<Inner>);

struct Inner {
    client: Client,
    connection: Mutex<Option<MultiplexedConnection>>,
    near: std::sync::Mutex<HashMap<String, (Moment, Arc<Value>)>>,
    budget: Duration,
    fresh_ms: u64,
    local: Duration,
}

impl Naive {
    pub(crate) fn open(setup: &Setup) -> Result<Self> {
        Ok(Self(Arc::new(Inner {
            client: Client::open(&*setup.redis)?,
            connection: Mutex::default(),
            near: std::sync::Mutex::default(),
            budget: Duration::from_millis(setup.budget_ms.unwrap_or(BUDGET_MS)),
            fresh_ms: setup.fresh_ms.unwrap_or(FRESH_MS),
            local: if setup.local_ms == Some(0) { Duration::ZERO } else { LOCAL },
        })))
    }

    pub(crate) async fn load(&self, id: &str, source: Source, origin: Origin) -> Outcome {
        match self.get(id).await {
            Ok(Some(value)) => return found(&value),
            Ok(None) => {}
            Err(error) => return broken(&error),
        }
        let Ok(value) = source.load(id.to_owned(), origin).await else { return Outcome::Failed };
        match self.set(id, &value).await {
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
        done(self.set(id, &value).await)
    }

    pub(crate) async fn forget(&self, id: &str) -> Outcome {
        self.near().remove(id);
        done(self.ask(cmd("DEL").arg(id)).await)
    }

    pub(crate) async fn forget_all(&self, ids: &[String]) -> Outcome {
        ids.iter().for_each(|id| drop(self.near().remove(id)));
        done(self.ask(cmd("DEL").arg(ids)).await)
    }

    async fn get(&self, id: &str) -> RedisResult<Option<Arc<Value>>> {
        let near = self.near().get(id).cloned();
        if let Some((since, value)) = near
            && Moment::now().since(since) < self.0.local
        {
            return Ok(Some(value));
        }
        let stored: Option<Vec<u8>> = self.ask(cmd("GET").arg(id)).await?;
        let value = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok()).map(Arc::new);
        if let Some(value) = &value {
            self.remember(id, Arc::clone(value));
        }
        Ok(value)
    }

    async fn set(&self, id: &str, value: &Value) -> RedisResult<()> {
        let bytes = serde_json::to_vec(value).expect("a value is JSON");
        self.ask(cmd("SET").arg(id).arg(bytes).arg("PX").arg(self.0.fresh_ms)).await
    }

    fn remember(&self, id: &str, value: Arc<Value>) {
        self.near().insert(id.to_owned(), (Moment::now(), value));
    }

    fn near(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Moment, Arc<Value>)>> {
        self.0.near.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks within the budget. A connection that fails is replaced at the next call.
    async fn ask<T: FromRedisValue>(&self, command: &mut Cmd) -> RedisResult<T> {
        let asked = timeout(self.0.budget, async {
            let mut connection = self.connection().await?;
            command.query_async(&mut connection).await
        });
        let answer = asked.await.unwrap_or_else(|_| Err(late()));
        if answer.is_err() {
            self.0.connection.lock().await.take();
        }
        answer
    }

    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let mut connection = self.0.connection.lock().await;
        if let Some(connection) = &*connection {
            return Ok(connection.clone());
        }
        let new = self.0.client.get_multiplexed_async_connection().await?;
        Ok(connection.insert(new).clone())
    }
}

fn late() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

fn done(answer: RedisResult<()>) -> Outcome {
    answer.map_or_else(|error| broken(&error), |()| Outcome::Everywhere)
}

fn broken(error: &RedisError) -> Outcome {
    Outcome::Error(error.to_string())
}
