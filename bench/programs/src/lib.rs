//! Programs of their own, which measure themselves when they are asked to: peers, and processes of Forebay.

mod install;
mod source;

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;

pub use self::source::{CACHES, HITBOX_IN_MEMORY, LIMITERS, REDIS_LOCK, Source};

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(180);

/// A program that runs, and waits to be asked.
#[derive(Debug)]
pub struct Program {
    /// Its name in the tables.
    pub name: &'static str,
    child: Child,
    orders: ChildStdin,
    answers: Receiver<String>,
    /// Whether a line has no answer yet, which would be taken for that to the next one.
    owes: bool,
}

impl Source {
    /// Starts the program over the Redis at `url`, after installing what it needs unless that is there.
    pub fn start(self, url: &str, arguments: &[String]) -> Result<Program> {
        let [program, first @ ..] = &self.installed()?[..] else { unreachable!("a program has a name") };
        let mut command = forebay_rig::dying(program);
        command.args(first).arg(url).args(self.arguments).args(arguments);
        Program::spawn(self.name, command)
    }
}

impl Program {
    /// Starts a program that answers lines.
    pub fn spawn(name: &'static str, mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = forebay_rig::spawn(command)?;
        let orders = child.stdin.take().expect("it is piped");
        let answers = lines(child.stdout.take().expect("it is piped"))?;
        Ok(Self { name, child, orders, answers, owes: false })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it answers to a line.
    pub fn ask<T: DeserializeOwned>(&mut self, order: &str) -> Result<T> {
        self.tell(order)?;
        self.answer()
    }

    /// Gives it a line that it will answer. Who has not answered the line before is asked no more.
    pub fn tell(&mut self, order: &str) -> Result<()> {
        ensure!(!self.owes, "the program has not answered what it was asked before");
        self.owes = true;
        writeln!(self.orders, "{order}").context("the program ends")
    }

    /// What it answers to the line that it was given.
    pub fn answer<T: DeserializeOwned>(&mut self) -> Result<T> {
        let line = self.answers.recv_timeout(PATIENCE).context("the program does not answer")?;
        self.owes = false;
        serde_json::from_str(&line).with_context(|| format!("the program answers {line:?}"))
    }
}

/// The lines of a program as they come.
fn lines(output: ChildStdout) -> Result<Receiver<String>> {
    let (sender, lines) = mpsc::channel();
    let read = move || {
        let mut read = BufReader::new(output).lines().map_while(Result::ok);
        // Nobody asks for more once the program is dropped.
        read.all(|line| sender.send(line).is_ok())
    };
    thread::Builder::new().name("answers".into()).spawn(read)?;
    Ok(lines)
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself, and is reaped then.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}
