//! Interleaved rounds: what disturbs the machine for a while disturbs all contestants alike.

use std::time::Duration;

use anyhow::{Result, bail};
use drive::Stopwatch;

/// Fewer rounds have no median worth its name.
const LEAST: u32 = 3;

/// How often each side is measured.
#[derive(Debug, Clone, Copy)]
pub struct Rounds {
    /// At most so often.
    pub most: u32,
    /// No round begins later than this after the first, but for the third, if so many are wanted.
    pub within: Duration,
}

impl Rounds {
    /// So many, however long that takes.
    pub const fn exactly(rounds: u32) -> Self {
        Self { most: rounds, within: Duration::MAX }
    }

    /// At most so many of these.
    pub fn at_most(self, most: u32) -> Self {
        Self { most: self.most.min(most), ..self }
    }
}

/// One contestant of a row, measured by `measure`.
pub struct Side<'a, S> {
    /// Its name in the tables.
    pub name: &'static str,
    /// Measures it once.
    pub measure: Box<dyn FnMut() -> S + 'a>,
}

impl<'a, S> Side<'a, S> {
    /// A contestant of this name.
    pub fn new(name: &'static str, measure: impl FnMut() -> S + 'a) -> Self {
        Self { name, measure: Box::new(measure) }
    }
}

/// What was measured of one contestant, a sample a round.
#[derive(Debug, Clone)]
pub struct Samples<S> {
    /// Its name.
    pub name: &'static str,
    /// One of each round.
    pub samples: Vec<S>,
}

/// What was measured, and why of some sides nothing was.
#[derive(Debug)]
pub struct Played<S> {
    /// Of each side that could be measured.
    pub samples: Vec<Samples<S>>,
    /// The others, and why.
    pub missing: Vec<String>,
}

/// Measures each side once a round, each round beginning with another one, after a round to warm up.
pub fn play<S>(mut sides: Vec<Side<'_, S>>, rounds: Rounds) -> Vec<Samples<S>> {
    for side in &mut sides {
        (side.measure)();
    }
    play_cold(sides, rounds)
}

/// As [`play`], without a round to warm up.
fn play_cold<S>(mut sides: Vec<Side<'_, S>>, rounds: Rounds) -> Vec<Samples<S>> {
    let count = sides.len();
    let mut played: Vec<Samples<S>> =
        sides.iter().map(|side| Samples { name: side.name, samples: Vec::new() }).collect();
    let watch = Stopwatch::start();
    for first in 0..rounds.most as usize {
        if first >= LEAST as usize && watch.elapsed() > rounds.within {
            break;
        }
        for offset in 0..count {
            let turn = (first + offset) % count;
            played[turn].samples.push((sides[turn].measure)());
        }
    }
    played
}

/// As [`play`], but a side that fails is measured no more, and has no samples.
pub fn play_what_runs<S>(sides: Vec<Side<'_, Result<S>>>, rounds: Rounds) -> Played<S> {
    what_ran(play(guarded(sides), rounds))
}

/// As [`play_what_runs`], without a round to warm up: for sides that do so themselves.
pub fn play_what_runs_cold<S>(sides: Vec<Side<'_, Result<S>>>, rounds: Rounds) -> Played<S> {
    what_ran(play_cold(guarded(sides), rounds))
}

fn guarded<'a, S: 'a>(sides: Vec<Side<'a, Result<S>>>) -> Vec<Side<'a, Result<S>>> {
    let guarded = sides.into_iter().map(|Side { name, mut measure }| {
        let mut failed = None;
        Side::new(name, move || {
            if let Some(why) = &failed {
                bail!("{why}");
            }
            measure().inspect_err(|error| failed = Some(format!("{error:#}")))
        })
    });
    guarded.collect()
}

fn what_ran<S>(all: Vec<Samples<Result<S>>>) -> Played<S> {
    let mut played = Played { samples: Vec::new(), missing: Vec::new() };
    for Samples { name, samples } in all {
        match samples.into_iter().collect() {
            Ok(samples) => played.samples.push(Samples { name, samples }),
            Err(error) => played.missing.push(format!("{name} ({error:#})")),
        }
    }
    played
}

/// One figure of each sample.
pub fn figures<S>(played: &[Samples<S>], figure: impl Fn(&S) -> f64) -> Vec<Samples<f64>> {
    let of = |side: &Samples<S>| side.samples.iter().map(&figure).collect();
    played.iter().map(|side| Samples { name: side.name, samples: of(side) }).collect()
}

impl<S> Played<S> {
    /// One figure of each sample.
    pub fn figures(&self, figure: impl Fn(&S) -> f64) -> Played<f64> {
        Played { samples: figures(&self.samples, figure), missing: self.missing.clone() }
    }
}

impl<S> std::fmt::Debug for Side<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Side").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many rounds there are of a side that takes no time.
    fn played(rounds: Rounds) -> usize {
        play(vec![Side::new("side", || ())], rounds)[0].samples.len()
    }

    #[test]
    fn a_row_without_time_has_three_rounds() {
        assert_eq!(played(Rounds { most: 9, within: Duration::ZERO }), 3);
        assert_eq!(played(Rounds { most: 2, within: Duration::ZERO }), 2);
        assert_eq!(played(Rounds::exactly(9)), 9);
    }
}
