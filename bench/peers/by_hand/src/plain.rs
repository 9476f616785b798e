//! Look, else load and store: by the client's plain connection, without delays of the kernel.

use std::fmt;

use contest::{Article, Origin, Shared};
use futures::future::BoxFuture;
use redis::{
    AsyncCommands, Client, IntoConnectionInfo, RedisResult, aio::MultiplexedConnection, io::tcp::TcpSettings,
};
use tokio::runtime::Runtime;

use crate::kept;

/// What is asked at each read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The value.
    Value,
    /// How long it lives and the value, in one pipeline.
    LifeAndValue,
}

/// One process.
#[derive(Clone)]
pub struct Plain {
    redis: MultiplexedConnection,
    question: Question,
}

impl Plain {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str, question: Question) -> Self {
        let info = url.into_connection_info().expect("the rig's URL is valid");
        let info = info.set_tcp_settings(TcpSettings::default().set_nodelay(true));
        let client = Client::open(info).expect("the rig's URL is valid");
        let connection = runtime.block_on(client.get_multiplexed_async_connection());
        Self { redis: connection.expect("the rig's server answers"), question }
    }

    async fn look(&mut self, key: &str) -> RedisResult<Option<Article>> {
        let bytes = match self.question {
            Question::Value => self.redis.get(key).await?,
            Question::LifeAndValue => {
                let both: (i64, Option<Vec<u8>>) =
                    redis::pipe().pttl(key).get(key).query_async(&mut self.redis).await?;
                both.1
            }
        };
        Ok(kept::decode(bytes))
    }

    async fn get_or_load(&mut self, key: &str, origin: Origin) -> RedisResult<Article> {
        match self.look(key).await? {
            Some(article) => Ok(article),
            None => kept::fill(&mut self.redis, key, origin).await,
        }
    }

    fn prefix(&self) -> &'static str {
        match self.question {
            Question::Value => "plain",
            Question::LifeAndValue => "life",
        }
    }
}

impl Shared for Plain {
    fn name(&self) -> &'static str {
        match self.question {
            Question::Value => crate::GET,
            Question::LifeAndValue => crate::PTTL_AND_GET,
        }
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Option<u64>> {
        let mut process = self.clone();
        Box::pin(async move {
            let key = format!("{}:{key}", process.prefix());
            process.get_or_load(&key, origin).await.ok().map(|article| article.version)
        })
    }

    fn forget(&self, key: String) -> BoxFuture<'static, bool> {
        let (mut redis, key) = (self.redis.clone(), format!("{}:{key}", self.prefix()));
        Box::pin(async move { redis.del::<_, ()>(key).await.is_ok() })
    }
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plain").field("question", &self.question).finish_non_exhaustive()
    }
}
