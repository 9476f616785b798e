//! A store, and two servers over it: the same one twice where the store is a process's own.

use std::{sync::Arc, thread::panicking, time::Duration};

use forebay_rig::Redis;
use tokio::time::{sleep, timeout};

use super::{Answered, Server};

/// How long a server may take until it uses Redis and hears the others.
const PATIENCE: Duration = Duration::from_secs(60);

/// A machine that is busy with something else may keep Redis from answering for longer than usual.
const PATIENT: &str = "[redis]\nbudget = \"1s\"\n";

pub(crate) struct Stage {
    pub(crate) redis: Option<Redis>,
    pub(crate) here: Arc<Server>,
    pub(crate) there: Arc<Server>,
}

impl Stage {
    /// One over memory, and one over Redis.
    pub(crate) async fn each() -> [Self; 2] {
        [Self::memory(""), Self::redis("").await]
    }

    pub(crate) fn memory(settings: &str) -> Self {
        let server = Arc::new(Server::with(settings));
        Self { redis: None, here: server.clone(), there: server }
    }

    pub(crate) async fn redis(settings: &str) -> Self {
        let redis = Redis::start();
        let (here, there) = (over(&redis, settings), over(&redis, settings));
        is_ready(&here).await;
        is_ready(&there).await;
        Self { redis: Some(redis), here, there }
    }
}

impl Drop for Stage {
    /// Whatever a test does, nothing stays for ever.
    fn drop(&mut self) {
        if panicking() {
            return;
        }
        if let Some(redis) = self.redis.as_ref().filter(|redis| redis.answers(Duration::from_millis(100))) {
            assert_eq!(redis.keys_without_expiry(), Vec::<String>::new());
        }
    }
}

fn over(redis: &Redis, settings: &str) -> Arc<Server> {
    let settings = format!("{PATIENT}{settings}");
    Arc::new(Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], &settings))
}

async fn is_ready(server: &Server) {
    let ready = async {
        while Answered::to(server.get("/readyz")).await.json()["status"] != "ready" {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, ready).await.expect("the server uses Redis and hears the others");
}
