//! How good a figure is, in three grades.

use super::figures::{Clients, Memory};

/// A grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rating {
    /// As it should be.
    Excellent,
    /// To be watched.
    Good,
    /// Somebody should do something.
    Poor,
}

/// What is rated of Redis; `None` where there is nothing to rate yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ratings {
    /// How many of the keys that were read lately were there: above 90 % is excellent, from 70 % on good.
    pub hit_rate: Option<Rating>,
    /// Resident memory beside what is in use: 1.0 to 1.5 is excellent, up to 2.0 good. Outside of that it is only poor where
    /// it concerns more than 100 MiB, as small servers are always fragmented. Below 1.0 the server is being swapped out.
    pub fragmentation: Option<Rating>,
    /// Connections beside those that there may be: below 50 % is excellent, up to 80 % good.
    pub connections: Option<Rating>,
    /// Memory beside its limit, likewise; nothing without a limit.
    pub memory: Option<Rating>,
}

/// Less than this is no matter, whatever its share.
const WASTE: u64 = 100 << 20;

impl Rating {
    /// Of the share of reads that found something, in percent.
    pub(super) fn of_hits(percent: f64) -> Self {
        match percent {
            _ if percent > 90.0 => Self::Excellent,
            _ if percent >= 70.0 => Self::Good,
            _ => Self::Poor,
        }
    }

    /// Of how much of what there may be is used, in percent.
    pub(super) fn of_use(percent: f64) -> Self {
        match percent {
            _ if percent < 50.0 => Self::Excellent,
            _ if percent <= 80.0 => Self::Good,
            _ => Self::Poor,
        }
    }
}

/// How fragmented memory is.
pub(super) fn fragmentation(memory: &Memory) -> Option<Rating> {
    let (ratio, used, resident) = (memory.fragmentation?, memory.used?, memory.resident?);
    Some(match ratio {
        _ if used.abs_diff(resident) <= WASTE => Rating::Excellent,
        _ if !(1.0..=2.0).contains(&ratio) => Rating::Poor,
        _ if ratio > 1.5 => Rating::Good,
        _ => Rating::Excellent,
    })
}

impl Ratings {
    /// The worst of all servers.
    pub(super) fn of<'a>(
        servers: impl Iterator<Item = (&'a Memory, &'a Clients)>,
        hit_rate: Option<f64>,
    ) -> Self {
        let mut ratings = Self { hit_rate: hit_rate.map(Rating::of_hits), ..Self::default() };
        for (memory, clients) in servers {
            let grades = [
                (&mut ratings.fragmentation, fragmentation(memory)),
                (&mut ratings.connections, clients.percent_used().map(Rating::of_use)),
                (&mut ratings.memory, memory.percent_used().map(Rating::of_use)),
            ];
            // `None` is less than any grade.
            grades.into_iter().for_each(|(worst, grade)| *worst = (*worst).max(grade));
        }
        ratings
    }
}

#[cfg(test)]
mod tests {
    use Rating::{Excellent, Good, Poor};

    use super::*;

    fn memory(ratio: f64, used: u64, resident: u64) -> Memory {
        Memory {
            fragmentation: Some(ratio),
            used: Some(used << 20),
            resident: Some(resident << 20),
            ..Memory::default()
        }
    }

    #[test]
    fn the_bounds_of_the_grades_are_those_of_the_documentation() {
        assert_eq!([90.1, 90.0, 70.0, 69.9].map(Rating::of_hits), [Excellent, Good, Good, Poor]);
        assert_eq!([49.9, 50.0, 80.0, 80.1].map(Rating::of_use), [Excellent, Good, Good, Poor]);
    }

    // Case M1: a server that has nothing in it is fragmented by its own code.
    #[test]
    fn an_empty_server_is_not_alarming_however_fragmented() {
        let grade = |memory: &Memory| fragmentation(memory);
        assert_eq!(grade(&memory(12.5, 1, 12)), Some(Excellent));
        assert_eq!(grade(&memory(3.0, 50, 150)), Some(Excellent));
        assert_eq!(grade(&memory(3.0, 60, 180)), Some(Poor));
        assert_eq!(grade(&memory(1.8, 200, 360)), Some(Good));
        assert_eq!(grade(&memory(1.5, 400, 600)), Some(Excellent));
        assert_eq!(grade(&Memory::default()), None);
    }

    #[test]
    fn a_server_that_is_swapped_out_is_poor() {
        assert_eq!(fragmentation(&memory(0.5, 400, 200)), Some(Poor));
        assert_eq!(fragmentation(&memory(0.9, 10, 9)), Some(Excellent));
    }

    #[test]
    fn the_worst_server_decides() {
        let full = Memory { used: Some(90), limit: Some(100), ..Memory::default() };
        let (empty, clients) = (Memory { used: Some(1), ..full.clone() }, Clients::default());
        let ratings =
            Ratings::of([(&empty, &clients), (&full, &clients), (&empty, &clients)].into_iter(), None);
        assert_eq!((ratings.memory, ratings.connections, ratings.hit_rate), (Some(Poor), None, None));
    }
}
