//! The program under test: a process of its own on a free port, ended with the value.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// The address whose port is a free one.
pub(crate) const FREE: &str = "127.0.0.1:0";

pub(crate) struct Program {
    base: String,
    child: Child,
    client: reqwest::Client,
}

impl Program {
    /// Starts on the database of `directory`.
    pub(crate) fn start(directory: &TempDir) -> Self {
        Self::run(command(FREE, &database(directory)))
    }

    /// Starts on the database of `directory`, and shares its cache through the Redis at `url`.
    pub(crate) fn over_redis(directory: &TempDir, url: &str) -> Self {
        let mut command = command(FREE, &database(directory));
        command.env("FOREBAY_REDIS_URL", url);
        Self::run(command)
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("catalog listens on ").unwrap_or_else(|| panic!("it said {line:?}"));
        Self { base: address.trim_end().into(), child, client: reqwest::Client::new() }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.base)).send().await.unwrap()
    }

    /// Reads a product that exists.
    pub(crate) async fn product(&self, id: u32) -> Value {
        let answer = self.get(&format!("/products/{id}")).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.json().await.unwrap()
    }

    /// Where the answer to a read says that it came from, and how long it took.
    pub(crate) async fn timing(&self, id: u32) -> String {
        self.get(&format!("/products/{id}")).await.headers()["server-timing"].to_str().unwrap().to_owned()
    }

    pub(crate) async fn put_price(&self, id: u32, body: &Value) -> Response {
        self.client.put(format!("{}/products/{id}/price", self.base)).json(body).send().await.unwrap()
    }

    pub(crate) async fn set_price(&self, id: u32, cents: u64) {
        assert_eq!(self.put_price(id, &json!({ "price_cents": cents })).await.status(), StatusCode::OK);
    }

    /// How often the database was asked for a product.
    pub(crate) async fn queries(&self) -> u64 {
        let stats: Value = self.get("/stats").await.json().await.unwrap();
        stats["queries"].as_u64().unwrap()
    }

    /// Waits until the database was asked `queries` times, and the last query is on its way.
    pub(crate) async fn is_querying(&self, queries: u64) {
        while self.queries().await < queries {
            sleep(Duration::from_millis(1)).await;
        }
        // The figure goes up before SQLite sees the query, and a query takes about 200 ms.
        sleep(Duration::from_millis(50)).await;
    }

    pub(crate) fn terminate(&self) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    }

    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let ended = async {
            loop {
                match self.child.try_wait().unwrap() {
                    Some(status) => break status,
                    None => sleep(Duration::from_millis(10)).await,
                }
            }
        };
        timeout(Duration::from_secs(20), ended).await.unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn command(listen: &str, database: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_catalog"));
    command.args(["--listen", listen, "--database"]).arg(database);
    // Whatever the shell of whoever runs the tests has: they touch no Redis but their own.
    command.env_remove("FOREBAY_REDIS_URL");
    command
}

pub(crate) fn database(directory: &TempDir) -> PathBuf {
    directory.path().join("catalog.sqlite")
}
