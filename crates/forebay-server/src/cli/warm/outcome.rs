//! What became of ids.

use serde::Serialize;

use super::progress::Progress;
use crate::cli::{
    Failure,
    leases::Undone,
    output::{Paint, Report},
    words::{count, of, printable},
};

/// How many failures are told one by one.
const TOLD: usize = 20;

/// What became of one id.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Its value was loaded, and is stored.
    Loaded,
    /// The origin has none, which is remembered.
    Absent,
    /// There was nothing to do.
    Fresh,
    /// Somebody else was loading it.
    Elsewhere,
    Failed(String),
    /// The server would refuse every other one, too.
    Hopeless(Failure),
}

impl From<Undone> for Outcome {
    fn from(undone: Undone) -> Self {
        match undone {
            Undone::Here(failure) => Self::Failed(failure.to_string()),
            Undone::Everywhere(failure) => Self::Hopeless(failure),
        }
    }
}

impl Outcome {
    /// Whether it need not be done again.
    pub(super) fn is_done(&self) -> bool {
        !matches!(self, Self::Failed(_) | Self::Hopeless(_))
    }
}

/// What became of all.
#[derive(Debug, Serialize)]
pub(super) struct Warmed {
    space: String,
    loaded: u64,
    absent: u64,
    fresh: u64,
    elsewhere: u64,
    /// Done by a run before this one.
    before: u64,
    failed: u64,
    pub(super) interrupted: bool,
    /// The first of those that have failed.
    failures: Vec<Failed>,
}

#[derive(Debug, Serialize)]
struct Failed {
    id: String,
    why: String,
}

impl Warmed {
    pub(super) fn new(space: &str) -> Self {
        Self {
            space: space.to_owned(),
            loaded: 0,
            absent: 0,
            fresh: 0,
            elsewhere: 0,
            before: 0,
            failed: 0,
            interrupted: false,
            failures: Vec::new(),
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.failed == 0 && !self.interrupted
    }

    /// Counts one that was done before.
    pub(super) fn pass_over(&mut self, progress: &mut Progress) {
        self.before += 1;
        progress.go_on(self.failed);
    }

    pub(super) fn note(&mut self, id: String, outcome: Outcome, progress: &mut Progress) {
        match outcome {
            Outcome::Loaded => self.loaded += 1,
            Outcome::Absent => self.absent += 1,
            Outcome::Fresh => self.fresh += 1,
            Outcome::Elsewhere => self.elsewhere += 1,
            // That of all ends the run before it is counted.
            Outcome::Hopeless(_) => {}
            Outcome::Failed(why) => {
                self.failed += 1;
                if self.failures.len() < TOLD {
                    self.failures.push(Failed { id, why });
                }
            }
        }
        progress.go_on(self.failed);
    }
}

impl Report for Warmed {
    fn text(&self, paint: Paint) -> String {
        let parts = [
            (self.loaded, "loaded"),
            (self.absent, "remembered as absent"),
            (self.fresh, "fresh already"),
            (self.elsewhere, "being loaded by somebody else"),
            (self.before, "done before"),
        ];
        let said = parts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{} {what}", count(*number)));
        let said: Vec<_> = said.collect();
        let said = if said.is_empty() { "nothing was loaded".to_owned() } else { said.join(", ") };
        let mut text = format!("{}: {said}\n", printable(&self.space));
        if self.failed > 0 {
            text += &format!("{}\n", paint.bad(&format!("{} failed:", of(self.failed, "id"))));
        }
        for Failed { id, why } in &self.failures {
            text += &format!("  {}: {}\n", printable(id), printable(why));
        }
        if self.failed > self.failures.len() as u64 {
            text += "  …\n";
        }
        if self.interrupted {
            text += &format!("{}\n", paint.doubtful("interrupted: --resume goes on where it stopped"));
        }
        text
    }
}
