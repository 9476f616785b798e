//! The programs under test, and how clients call them.

use std::{process::Command, time::Duration};

use forebay_rig::Redis;
use futures::future::join_all;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{answer::Answer, process::Process, records::Records};

/// The stand-in for a model, which all instances ask.
pub(crate) struct Model {
    process: Process,
    client: Client,
}

impl Model {
    /// One that takes so long for an answer.
    pub(crate) fn taking(millis: u32) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coach-model"));
        command.args(["--listen", "127.0.0.1:0", "--takes", &millis.to_string()]);
        Self { process: Process::start(&mut command), client: client() }
    }

    /// How often it was asked.
    pub(crate) async fn calls(&self) -> u64 {
        let request = self.client.get(format!("{}/figures", self.process.base));
        Answer::to(request).await.unwrap().body["calls"].as_u64().unwrap()
    }

    pub(crate) async fn fail(&self, seconds: u32) {
        let url = format!("{}/fail?seconds={seconds}", self.process.base);
        assert_eq!(self.client.post(url).send().await.unwrap().status(), 204);
    }
}

/// How instances are started.
pub(crate) struct Start<'a> {
    pub(crate) records: &'a Records,
    pub(crate) model: &'a Model,
    pub(crate) redis: Option<&'a Redis>,
    pub(crate) flags: &'a [&'a str],
}

impl<'a> Start<'a> {
    /// One that works alone, on its memory.
    pub(crate) fn alone(records: &'a Records, model: &'a Model) -> Self {
        Self { records, model, redis: None, flags: &[] }
    }

    /// One of several.
    pub(crate) fn over(redis: &'a Redis, records: &'a Records, model: &'a Model) -> Self {
        Self { records, model, redis: Some(redis), flags: &[] }
    }

    pub(crate) fn flags(self, flags: &'a [&'a str]) -> Self {
        Self { flags, ..self }
    }

    pub(crate) fn run(&self) -> Coach {
        let mut command = coach(self.records);
        // Roomy, as nothing here is about how soon a busy machine gives up on Redis.
        command.args(["--model-url", &self.model.process.base, "--redis-budget", "2000"]).args(self.flags);
        command.envs(self.redis.map(|redis| ("FOREBAY_REDIS_URL", redis.url())));
        Coach::of(Process::start(&mut command))
    }
}

/// One instance that is still to be started, over `records`.
pub(crate) fn coach(records: &Records) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coach"));
    command.args(["--listen", "127.0.0.1:0", "--database"]).arg(records.path());
    // Whatever the shell of whoever runs the tests has: they touch no Redis but their own.
    for name in ["FOREBAY_REDIS_URL", "FOREBAY_STORE", "MODEL_URL", "MODEL_KEY", "MODEL_NAME"] {
        command.env_remove(name);
    }
    command
}

fn client() -> Client {
    Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap()
}

/// One instance.
pub(crate) struct Coach {
    pub(crate) process: Process,
    client: Client,
}

impl Coach {
    pub(crate) fn of(process: Process) -> Self {
        Self { process, client: client() }
    }

    /// A call by the partner, who is not limited, for a runner.
    pub(crate) fn call(&self, method: Method, path: &str, user: &str, body: &Value) -> RequestBuilder {
        let call = self.client.request(method, format!("{}{path}", self.process.base)).json(body);
        call.header("x-api-key", "demo-partner").header("x-user", user)
    }

    pub(crate) async fn ask(&self, user: &str, question: &str) -> Answer {
        self.try_ask(user, question).await.unwrap()
    }

    pub(crate) async fn try_ask(&self, user: &str, question: &str) -> reqwest::Result<Answer> {
        let question = json!({ "question": question });
        Answer::to(self.call(Method::POST, "/ask", user, &question)).await
    }

    pub(crate) async fn try_profile(&self, user: &str, vo2max: f64) -> reqwest::Result<Answer> {
        let profile = json!({ "vo2max": vo2max, "lt_pace": 255 });
        Answer::to(self.call(Method::PUT, "/profile", user, &profile)).await
    }

    pub(crate) async fn profile(&self, user: &str, vo2max: f64) -> Answer {
        self.try_profile(user, vo2max).await.unwrap()
    }

    pub(crate) async fn try_plan(&self, user: &str) -> reqwest::Result<Answer> {
        let wish = json!({ "goal": "10 km in 45 minutes" });
        Answer::to(self.call(Method::POST, "/generate-plan", user, &wish)).await
    }

    pub(crate) async fn plan(&self, user: &str) -> Answer {
        self.try_plan(user).await.unwrap()
    }

    pub(crate) async fn try_pay(
        &self,
        user: &str,
        key: &str,
        order: &str,
        cents: u32,
    ) -> reqwest::Result<Answer> {
        let order = json!({ "order": order, "cents": cents });
        let call = self.call(Method::POST, "/payments", user, &order);
        Answer::to(call.header("idempotency-key", format!("\"{key}\""))).await
    }

    pub(crate) async fn pay(&self, user: &str, key: &str) -> Answer {
        self.try_pay(user, key, "7", 1200).await.unwrap()
    }

    pub(crate) async fn code(&self, email: &str) -> Answer {
        let call = self.client.post(format!("{}/auth/code", self.process.base));
        Answer::to(call.json(&json!({ "email": email }))).await.unwrap()
    }

    /// What is read at a path with some key.
    pub(crate) async fn get(&self, path: &str, key: &str) -> Answer {
        let call = self.client.get(format!("{}{path}", self.process.base));
        Answer::to(call.header("x-api-key", key)).await.unwrap()
    }

    /// What operators read.
    pub(crate) async fn figures(&self, path: &str) -> Value {
        let answer = self.get(path, "demo-ops").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }
}

/// What is answered to so many calls that are made at once.
pub(crate) async fn at_once(count: usize, call: impl AsyncFn(usize) -> Answer) -> Vec<Answer> {
    join_all((0..count).map(|n| call(n))).await
}

pub(crate) fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status).collect()
}

/// What becomes so within a minute, even on a busy machine.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), work).await.unwrap()
}
