//! A limiter in another language.

use anyhow::{Result, ensure};
use contest::Windows;
use programs::Source;
use serde::Deserialize;

/// A limiter that runs.
#[derive(Debug)]
pub(super) struct Program(programs::Program);

#[derive(Deserialize)]
struct Answer {
    per_second: f64,
    admitted: usize,
}

impl Program {
    pub(super) fn start(source: Source, url: &str, subjects: usize, windows: Windows) -> Result<Self> {
        let windows = windows.each().iter().flat_map(|window| [window.span.as_secs(), window.limit]);
        let arguments: Vec<String> =
            [subjects as u64].into_iter().chain(windows).map(|number| number.to_string()).collect();
        let mut program = Self(source.start(url, &arguments)?);
        program.measure(1, 1)?;
        Ok(program)
    }

    pub(super) fn name(&self) -> &'static str {
        self.0.name
    }

    /// Lets so many tasks make so many checks, none of which is refused. How many a second it makes.
    pub(super) fn measure(&mut self, tasks: usize, checks: usize) -> Result<f64> {
        let answer: Answer = self.0.ask(&format!("{tasks} {checks}"))?;
        ensure!(answer.admitted == checks, "the program refuses some of {checks}");
        Ok(answer.per_second)
    }
}
