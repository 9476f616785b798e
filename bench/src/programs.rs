//! Peers that are no crates: programs of their own, which measure themselves when they are asked to.

mod install;

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use anyhow::{Context, Result, ensure};
use contest::Windows;
use serde::Deserialize;

/// A program, and where it lies in `peers/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) name: &'static str,
    folder: &'static str,
    language: Language,
}

#[derive(Debug, Clone, Copy)]
enum Language {
    Python,
    Node,
}

/// All programs.
pub(crate) const ALL: [Source; 2] = [
    Source {
        name: "Node `rate-limiter-flexible`",
        folder: "rate_limiter_flexible",
        language: Language::Node,
    },
    Source { name: "Python `limits`", folder: "limits", language: Language::Python },
];

/// A program that runs, and waits to be asked.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Answer {
    per_second: f64,
    admitted: usize,
}

impl Source {
    /// Starts the program over the Redis at `url`, after installing what it needs unless that is there.
    pub(crate) fn start(self, url: &str, subjects: usize, windows: Windows) -> Result<Program> {
        let installed = install::installed(self)?;
        let (program, script) = match self.language {
            Language::Python => (installed.join("bin/python"), self.folder().join("check.py")),
            Language::Node => (PathBuf::from("node"), installed.join("check.mjs")),
        };
        let mut command = forebay_rig::dying(&program.to_string_lossy());
        command.arg(script).args([url, &subjects.to_string()]);
        for window in windows.each() {
            command.args([window.span.as_secs().to_string(), window.limit.to_string()]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = forebay_rig::spawn(command)?;
        let orders = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut program = Program { name: self.name, child, orders, answers };
        program.measure(1, 1)?;
        Ok(program)
    }

    fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(self.folder)
    }
}

impl Program {
    /// Lets so many tasks make so many checks, none of which is refused. How many a second it makes.
    pub(crate) fn measure(&mut self, tasks: usize, checks: usize) -> Result<f64> {
        writeln!(self.orders, "{tasks} {checks}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the program ends");
        let answer: Answer =
            serde_json::from_str(&line).with_context(|| format!("the program answers {line:?}"))?;
        ensure!(answer.admitted == checks, "the program refuses some of {checks}");
        Ok(answer.per_second)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself, and is reaped then.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}
