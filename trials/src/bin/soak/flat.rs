//! Whether what was sampled is flat: after a warm-up of a third, the last third uses no more than the one before.

use crate::sample::Sample;

type Figure = fn(&Sample) -> u64;

/// What is looked at: its name, and by how many percent and how much more it may go up and down.
const FIGURES: [(&str, Figure, u64, u64); 4] = [
    ("memory in KiB", |sample| sample.memory, 10, 4_096),
    ("files", |sample| sample.files, 0, 4),
    ("tasks", |sample| sample.tasks, 20, 30),
    ("connections", |sample| sample.connections, 0, 3),
];

/// What has grown.
pub(crate) fn growth(samples: &[Sample]) -> Vec<String> {
    if samples.len() < 9 {
        return vec![format!("{} samples are too few", samples.len())];
    }
    let grown = FIGURES.iter().filter_map(|(name, figure, percent, more)| {
        let (before, after) = thirds(samples, *figure);
        let bound = before + before * percent / 100 + more;
        (after > bound).then(|| format!("{name}: {before}, then {after}; {bound} would be flat"))
    });
    grown.collect()
}

/// The figures of the last two thirds, for people.
pub(crate) fn figures(samples: &[Sample]) -> String {
    let figures = FIGURES.iter().map(|(name, figure, ..)| {
        let (before, after) = thirds(samples, *figure);
        format!("{name} {before} to {after}")
    });
    format!("{} samples: {}", samples.len(), figures.collect::<Vec<_>>().join(", "))
}

/// The medians of the middle third and of the last.
fn thirds(samples: &[Sample], figure: Figure) -> (u64, u64) {
    let (one, two) = (samples.len() / 3, samples.len() * 2 / 3);
    (median(&samples[one..two], figure), median(&samples[two..], figure))
}

fn median(samples: &[Sample], figure: Figure) -> u64 {
    let mut figures: Vec<u64> = samples.iter().map(figure).collect();
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(connections: impl Fn(u64) -> u64) -> Vec<Sample> {
        (0..30).map(|at| Sample { connections: connections(at), ..Sample::default() }).collect()
    }

    #[test]
    fn what_only_warms_up_is_flat() {
        assert_eq!(growth(&samples(|at| at.min(9))), Vec::<String>::new());
    }

    #[test]
    fn what_goes_on_growing_is_found() {
        let grown = growth(&samples(|at| at));
        assert!(grown.len() == 1 && grown[0].starts_with("connections"), "{grown:?}");
    }
}
