//! Interleaved rounds: what disturbs the machine for a while disturbs all contestants alike.

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

/// Measures each side once a round, each round beginning with another one, after a round to warm up.
pub(crate) fn play<S>(mut sides: Vec<Side<'_, S>>, rounds: u32) -> Vec<Samples<S>> {
    for side in &mut sides {
        (side.measure)();
    }
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

/// One figure of each sample.
pub(crate) fn figures<S>(played: &[Samples<S>], figure: impl Fn(&S) -> f64) -> Vec<Samples<f64>> {
    let of = |side: &Samples<S>| side.samples.iter().map(&figure).collect();
    played.iter().map(|side| Samples { name: side.name, samples: of(side) }).collect()
}
