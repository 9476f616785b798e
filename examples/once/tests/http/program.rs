//! The program under test: a process of its own on a free port, ended with the value.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use forebay_rig::Redis;
use futures::future::join_all;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::Client;
use serde_json::{Value, json};

use crate::{answer::Answer, records::Records};

pub(crate) struct Program {
    base: String,
    child: Child,
    client: Client,
}

/// How a program is to be started.
pub(crate) struct Start {
    command: Command,
    bank_takes: u64,
    model_takes: u64,
}

/// One that works alone, on its memory.
pub(crate) fn alone(records: &Records) -> Start {
    let mut command = Command::new(env!("CARGO_BIN_EXE_once"));
    command.args(["--listen", "127.0.0.1:0", "--database"]).arg(records.path());
    // Whatever the shell of whoever runs the tests has: they touch no Redis but their own.
    for name in ["FOREBAY_REDIS_URL", "FOREBAY_STORE"] {
        command.env_remove(name);
    }
    Start { command, bank_takes: 100, model_takes: 100 }
}

/// One of several that share a Redis.
pub(crate) fn over(redis: &Redis, records: &Records) -> Start {
    let mut start = alone(records);
    start.command.env("FOREBAY_REDIS_URL", redis.url());
    start
}

impl Start {
    pub(crate) fn bank_takes(self, millis: u64) -> Self {
        Self { bank_takes: millis, ..self }
    }

    pub(crate) fn model_takes(self, millis: u64) -> Self {
        Self { model_takes: millis, ..self }
    }

    pub(crate) fn run(mut self) -> Program {
        for (name, millis) in [("--bank-takes", self.bank_takes), ("--model-takes", self.model_takes)] {
            self.command.args([name, &millis.to_string()]);
        }
        let mut child = self.command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let base = line.strip_prefix("once listens on ").unwrap_or_else(|| panic!("it said {line:?}"));
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap();
        Program { base: base.trim_end().into(), child, client }
    }
}

impl Program {
    /// Asks for a code.
    pub(crate) async fn code(&self, email: &str) -> Answer {
        Answer::of(self.client.post(self.url("/codes")).json(&json!({ "email": email }))).await.unwrap()
    }

    /// Pays 1,200 cents as somebody, with a key.
    pub(crate) async fn pay(&self, user: &str, key: &str) -> Answer {
        self.pay_cents(1200, user, Some(key)).await
    }

    pub(crate) async fn pay_cents(&self, cents: u32, user: &str, key: Option<&str>) -> Answer {
        let payment = json!({ "order": "7", "cents": cents });
        let mut request = self.client.post(self.url("/payments")).bearer_auth(user).json(&payment);
        if let Some(key) = key {
            request = request.header("idempotency-key", format!("\"{key}\""));
        }
        Answer::of(request).await.unwrap()
    }

    /// Has plan 42 drawn.
    pub(crate) async fn plan(&self, goal: &str) -> Answer {
        self.try_plan(goal).await.unwrap()
    }

    pub(crate) async fn try_plan(&self, goal: &str) -> reqwest::Result<Answer> {
        Answer::of(self.client.put(self.url("/plans/42")).json(&json!({ "goal": goal }))).await
    }

    /// What is read at a path by somebody.
    pub(crate) async fn get(&self, user: &str, path: &str) -> Value {
        Answer::of(self.client.get(self.url(path)).bearer_auth(user)).await.unwrap().body
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What is answered to so many requests that are sent at once.
pub(crate) async fn at_once(count: usize, send: impl AsyncFn(usize) -> Answer) -> Vec<Answer> {
    join_all((0..count).map(|n| send(n))).await
}
