//! The program under test: a process of its own on a free port, ended with the value.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use reqwest::{Client, Response};

pub(crate) struct Program {
    base: String,
    child: Child,
    client: Client,
}

impl Program {
    pub(crate) fn start() -> Self {
        Self::run(command())
    }

    /// Starts one that believes the proxies of these networks.
    pub(crate) fn trusting(networks: &str) -> Self {
        let mut command = command();
        command.env("TRUSTED_PROXIES", networks);
        Self::run(command)
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let base = line.strip_prefix("api-limits listens on ").unwrap_or_else(|| panic!("it said {line:?}"));
        let client = Client::builder().no_proxy().build().unwrap();
        Self { base: base.trim_end().into(), child, client }
    }

    /// Asks for `path` with one header more.
    pub(crate) async fn get(&self, path: &str, header: (&str, &str)) -> Response {
        self.client.get(format!("{}{path}", self.base)).header(header.0, header.1).send().await.unwrap()
    }

    /// The status of a quote for the key in this header.
    pub(crate) async fn quote(&self, header: (&str, &str)) -> u16 {
        self.get("/quote", header).await.status().as_u16()
    }

    /// The status of a sign-in of `ada` with one header more.
    pub(crate) async fn sign_in(&self, password: &str, header: (&str, &str)) -> u16 {
        let request = self.client.post(format!("{}/sign-in", self.base)).header(header.0, header.1);
        let form = request.header("content-type", "application/x-www-form-urlencoded");
        form.body(format!("user=ada&password={password}")).send().await.unwrap().status().as_u16()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The program, whatever the shell of whoever runs the tests has: they touch no Redis but their own.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_api-limits"));
    for name in ["FOREBAY_REDIS_URL", "FOREBAY_STORE", "TRUSTED_PROXIES"] {
        command.env_remove(name);
    }
    command
}
