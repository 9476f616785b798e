//! Interleaved rounds: what disturbs the machine for a while disturbs all contestants alike.

use anyhow::{Result, bail};

/// One contestant of a row, measured by `measure`.
pub(crate) struct Side<'a, S> {
    pub(crate) name: &'static str,
    pub(crate) measure: Box<dyn FnMut() -> S + 'a>,
}

impl<'a, S> Side<'a, S> {
    pub(crate) fn new(name: &'static str, measure: impl FnMut() -> S + 'a) -> Self {
        Self { name, measure: Box::new(measure) }
    }
}

/// What was measured of one contestant, a sample a round.
#[derive(Debug, Clone)]
pub(crate) struct Samples<S> {
    pub(crate) name: &'static str,
    pub(crate) samples: Vec<S>,
}

/// What was measured, and why of some sides nothing was.
#[derive(Debug)]
pub(crate) struct Played<S> {
    pub(crate) samples: Vec<Samples<S>>,
    pub(crate) missing: Vec<String>,
}

/// Measures each side once a round, each round beginning with another one, after a round to warm up.
pub(crate) fn play<S>(mut sides: Vec<Side<'_, S>>, rounds: u32) -> Vec<Samples<S>> {
    for side in &mut sides {
        (side.measure)();
    }
    play_cold(sides, rounds)
}

/// As [`play`], without a round to warm up.
fn play_cold<S>(mut sides: Vec<Side<'_, S>>, rounds: u32) -> Vec<Samples<S>> {
    let count = sides.len();
    let mut played: Vec<Samples<S>> =
        sides.iter().map(|side| Samples { name: side.name, samples: Vec::new() }).collect();
    for first in 0..rounds as usize {
        for offset in 0..count {
            let turn = (first + offset) % count;
            played[turn].samples.push((sides[turn].measure)());
        }
    }
    played
}

/// As [`play`], but a side that fails is measured no more, and has no samples.
pub(crate) fn play_what_runs<S>(sides: Vec<Side<'_, Result<S>>>, rounds: u32) -> Played<S> {
    what_ran(play(guarded(sides), rounds))
}

/// As [`play_what_runs`], without a round to warm up: for sides that do so themselves.
pub(crate) fn play_what_runs_cold<S>(sides: Vec<Side<'_, Result<S>>>, rounds: u32) -> Played<S> {
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
pub(crate) fn figures<S>(played: &[Samples<S>], figure: impl Fn(&S) -> f64) -> Vec<Samples<f64>> {
    let of = |side: &Samples<S>| side.samples.iter().map(&figure).collect();
    played.iter().map(|side| Samples { name: side.name, samples: of(side) }).collect()
}

impl<S> Played<S> {
    /// One figure of each sample.
    pub(crate) fn figures(&self, figure: impl Fn(&S) -> f64) -> Played<f64> {
        Played { samples: figures(&self.samples, figure), missing: self.missing.clone() }
    }
}
