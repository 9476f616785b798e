//! Redis as it is often used by hand: get, set with a life, delete, each within a budget.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use forebay_trials::order::{Outcome, Setup};
use redis::{Client, Cmd, FromRedisValue, RedisError, RedisResult, aio::MultiplexedConnection, cmd};
use tokio::{sync::Mutex, time::timeout};

use crate::origin::Value;

const BUDGET_MS: u64 = 50;
const FRESH_MS: u64 = 3_600_000;

#[derive(Clone)]
pub(crate) struct Far(Arc<Inner>);

struct Inner {
    client: Client,
    connection: Mutex<Option<MultiplexedConnection>>,
    budget: Duration,
    fresh_ms: u64,
}

impl Far {
    pub(crate) fn open(setup: &Setup) -> Result<Self> {
        Ok(Self(Arc::new(Inner {
            client: Client::open(&*setup.redis)?,
            connection: Mutex::default(),
            budget: Duration::from_millis(setup.budget_ms.unwrap_or(BUDGET_MS)),
            fresh_ms: setup.fresh_ms.unwrap_or(FRESH_MS),
        })))
    }

    pub(crate) async fn get(&self, id: &str) -> RedisResult<Option<Arc<Value>>> {
        let stored: Option<Vec<u8>> = self.ask(cmd("GET").arg(id)).await?;
        Ok(stored.and_then(|bytes| serde_json::from_slice(&bytes).ok()).map(Arc::new))
    }

    pub(crate) async fn set(&self, id: &str, value: &Value) -> RedisResult<()> {
        let bytes = serde_json::to_vec(value).expect("a value is JSON");
        self.ask(cmd("SET").arg(id).arg(bytes).arg("PX").arg(self.0.fresh_ms)).await
    }

    pub(crate) async fn delete(&self, ids: &[String]) -> RedisResult<()> {
        self.ask(cmd("DEL").arg(ids)).await
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

pub(crate) fn done(answer: RedisResult<()>) -> Outcome {
    answer.map_or_else(|error| broken(&error), |()| Outcome::Everywhere)
}

pub(crate) fn broken(error: &RedisError) -> Outcome {
    Outcome::Error(error.to_string())
}
