//! Whether what was sampled is flat: after a warm-up of a third, the last third uses no more than the one before.

use crate::sample::Sample;

/// What is looked at.
struct Figure {
    name: &'static str,
    of: fn(&Sample) -> u64,
    /// What stands for the samples of a third, in their order of size.
    level: fn(&[u64]) -> Option<&u64>,
    /// By how many percent and how much more it may go up and down.
    percent: u64,
    more: u64,
}

const FIGURES: [Figure; 4] = [
    Figure { name: "memory in KiB", of: |sample| sample.memory, level: median, percent: 10, more: 4_096 },
    Figure { name: "files", of: |sample| sample.files, level: median, percent: 0, more: 4 },
    // How many run is a matter of the moment, as a crowd that has missed a value has many; one that never ends is among
    // the fewest too.
    Figure { name: "tasks", of: |sample| sample.tasks, level: <[u64]>::first, percent: 20, more: 30 },
    Figure { name: "connections", of: |sample| sample.connections, level: median, percent: 0, more: 3 },
];

/// What has grown.
pub(crate) fn growth(samples: &[Sample]) -> Vec<String> {
    if samples.len() < 9 {
        return vec![format!("{} samples are too few", samples.len())];
    }
    let grown = FIGURES.iter().filter_map(|figure| {
        let (before, after) = figure.thirds(samples);
        let (name, bound) = (figure.name, before + before * figure.percent / 100 + figure.more);
        (after > bound).then(|| format!("{name}: {before}, then {after}; {bound} would be flat"))
    });
    grown.collect()
}

/// The figures of the last two thirds, for people.
pub(crate) fn figures(samples: &[Sample]) -> String {
    let figures = FIGURES.iter().map(|figure| {
        let (before, after) = figure.thirds(samples);
        format!("{} {before} to {after}", figure.name)
    });
    format!("{} samples: {}", samples.len(), figures.collect::<Vec<_>>().join(", "))
}

impl Figure {
    /// The levels of the middle third and of the last.
    fn thirds(&self, samples: &[Sample]) -> (u64, u64) {
        let (one, two) = (samples.len() / 3, samples.len() * 2 / 3);
        (self.level_of(&samples[one..two]), self.level_of(&samples[two..]))
    }

    fn level_of(&self, samples: &[Sample]) -> u64 {
        let mut figures: Vec<u64> = samples.iter().map(self.of).collect();
        figures.sort_unstable();
        (self.level)(&figures).copied().unwrap_or(0)
    }
}

fn median(figures: &[u64]) -> Option<&u64> {
    figures.get(figures.len() / 2)
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
    fn tasks_that_come_and_go_are_flat_and_those_that_stay_are_found() {
        let tasks = |tasks: fn(u64) -> u64| -> Vec<Sample> {
            (0..60).map(|at| Sample { tasks: tasks(at), ..Sample::default() }).collect()
        };
        assert_eq!(growth(&tasks(|at| 60 + at * at * 7919 % 500)), Vec::<String>::new());
        let grown = growth(&tasks(|at| 60 + 4 * at + at % 3 * 200));
        assert!(grown.len() == 1 && grown[0].starts_with("tasks"), "{grown:?}");
    }

    #[test]
    fn what_goes_on_growing_is_found() {
        let grown = growth(&samples(|at| at));
        assert!(grown.len() == 1 && grown[0].starts_with("connections"), "{grown:?}");
    }
}
