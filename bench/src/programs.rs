//! Peers that are no crates: programs of their own, which measure themselves when they are asked to.

mod install;

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;

/// A program, and where it lies in `peers/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) name: &'static str,
    folder: &'static str,
    language: Language,
    script: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Language {
    Python,
    Node,
}

/// The limiters.
pub(crate) const LIMITERS: [Source; 2] = [
    Source {
        name: "Node `rate-limiter-flexible`",
        folder: "rate_limiter_flexible",
        language: Language::Node,
        script: "check.mjs",
    },
    Source { name: "Python `limits`", folder: "limits", language: Language::Python, script: "check.py" },
];

/// The lock of redis-py.
pub(crate) const REDIS_LOCK: Source = Source {
    name: "Python `redis` `Lock`",
    folder: "redis_lock",
    language: Language::Python,
    script: "lock.py",
};

/// A program that runs, and waits to be asked.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Source {
    /// Starts the program over the Redis at `url`, after installing what it needs unless that is there.
    pub(crate) fn start(self, url: &str, arguments: &[String]) -> Result<Program> {
        let installed = install::installed(self)?;
        let (program, script) = match self.language {
            Language::Python => (installed.join("bin/python"), self.folder().join(self.script)),
            Language::Node => (PathBuf::from("node"), installed.join(self.script)),
        };
        let mut command = forebay_rig::dying(program);
        command.arg(script).arg(url).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = forebay_rig::spawn(command)?;
        let orders = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Program { name: self.name, child, orders, answers })
    }

    fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(self.folder)
    }
}

impl Program {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it answers to a line.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, order: &str) -> Result<T> {
        writeln!(self.orders, "{order}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the program ends");
        serde_json::from_str(&line).with_context(|| format!("the program answers {line:?}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself, and is reaped then.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}
