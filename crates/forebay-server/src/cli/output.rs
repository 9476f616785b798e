//! How verbs tell what they have found: to people in lines, to programs as JSON.

use std::io::{self, IsTerminal, Write};

use clap::Args;
use serde::Serialize;

use super::Failure;

/// What is told on standard output. Messages about the telling itself go to standard error.
pub(super) trait Report: Serialize {
    /// The same for people, in lines.
    fn text(&self, paint: Paint) -> String;
}

/// How to tell it.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Output {
    /// Prints JSON in place of text
    #[arg(long)]
    pub(super) json: bool,
}

impl Output {
    /// Tells it all at once: as one document, or in lines.
    pub(super) fn tell(self, report: &impl Report) -> Result<(), Failure> {
        match self.json {
            true => print(&(json(report) + "\n")),
            false => print(&report.text(Paint::for_stdout())),
        }
    }
}

/// One document in one line.
pub(super) fn json(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("what is told has a JSON form")
}

/// Writes to standard output all that there is to say. Whoever closed that has read enough.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match go_on(text) {
        Err(Failure::Unheard) => Ok(()),
        told => told,
    }
}

/// Writes a part of what has no end yet to standard output; fails once nobody reads that any more.
pub(super) fn go_on(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Unheard),
        Err(error) => Err(Failure::Undone(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Says something about the telling on standard error, if anybody reads that.
pub(super) fn remark(text: &str) {
    io::stderr().write_all(format!("{text}\n").as_bytes()).ok();
}

/// Colours, on a terminal and where `NO_COLOR` is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    #[cfg(test)]
    pub(super) const PLAIN: Self = Self { on: false };

    pub(super) fn for_stdout() -> Self {
        Self { on: io::stdout().is_terminal() && wants_colour() }
    }

    /// What is as it should be.
    pub(super) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What deserves a look.
    pub(super) fn doubtful(self, text: &str) -> String {
        self.with("33", text)
    }

    /// What is wrong.
    pub(super) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    /// A heading, or the one figure that matters.
    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What only explains.
    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Whether `NO_COLOR` allows colours: not where it has any value.
pub(super) fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
