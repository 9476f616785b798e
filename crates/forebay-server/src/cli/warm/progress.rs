//! How far it is, on standard error: a bar on a terminal, a line now and then elsewhere.

use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{output::remark, stopwatch::now, words::count};

const EVERY: Duration = Duration::from_secs(5);

const BAR: &str = "{bar:30} {pos}/{len} {msg} {per_sec}, {eta} left";
const COUNT: &str = "{pos} {msg} {per_sec}";

/// How many ids are through.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    through: u64,
    of: Option<u64>,
    told: Instant,
}

impl Progress {
    pub(super) fn new(of: Option<u64>) -> Self {
        let bar = io::stderr().is_terminal().then(|| bar(of));
        Self { bar, through: 0, of, told: now() }
    }

    /// One more is through, and so many of all have failed.
    pub(super) fn go_on(&mut self, failed: u64) {
        self.through += 1;
        let failed = if failed > 0 { format!("({} failed)", count(failed)) } else { String::new() };
        match &self.bar {
            Some(bar) => {
                bar.set_message(failed);
                bar.inc(1);
            }
            None if self.told.elapsed() >= EVERY => {
                self.told = now();
                let of = self.of.map(|of| format!(" of {}", count(of))).unwrap_or_default();
                remark(&format!("{}{of} ids {failed}", count(self.through)));
            }
            None => {}
        }
    }

    /// Says something beside that.
    pub(super) fn remark(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => remark(text),
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(of: Option<u64>) -> ProgressBar {
    let (bar, template) = match of {
        Some(of) => (ProgressBar::new(of), BAR),
        None => (ProgressBar::no_length(), COUNT),
    };
    bar.with_style(ProgressStyle::with_template(template).expect("the template is well-formed"))
}
