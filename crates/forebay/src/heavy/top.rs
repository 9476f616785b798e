//! The most frequent of many in bounded room, by Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi: "Efficient
//! Computation of Frequent and Top-k Elements in Data Streams", 2005): who is new takes the place of who was met least,
//! and his count with it, as the error of his own. Counts are halved every minute.

use std::{collections::HashMap, hash::BuildHasher, time::Duration};

use super::Sighting;
use crate::{clock::Moment, hash::Seed, key::Name};

/// How often counts are halved.
const HALF: Duration = Duration::from_secs(60);

/// Longer than this, all counts are as good as gone.
const GONE: u128 = 32;

/// Names of up to so many bytes take no allocation.
const USUAL: usize = 64;

/// Whom a sighting is of, by a hash that stands for the whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    hash: u64,
    group: &'a Name,
}

impl<'a> Place<'a> {
    pub(super) fn of(seed: &Seed, group: &'a Name, name: &str) -> Self {
        Self { hash: seed.hash_one((group.as_str(), name)), group }
    }
}

/// The most frequent. Counts stand beside each other, as the least one is looked for among all.
#[derive(Debug)]
pub(super) struct Top {
    room: usize,
    counts: Vec<u64>,
    entries: Vec<Entry>,
    places: HashMap<u64, usize>,
    /// Empty names, kept for the room that they have.
    spare: Vec<String>,
    halved: Moment,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    group: Name,
    name: String,
    error: u64,
}

impl Top {
    pub(super) fn new(room: usize) -> Self {
        Self {
            room,
            counts: Vec::with_capacity(room),
            entries: Vec::with_capacity(room),
            // Twice as many, so that it is never made larger for the sake of those that are gone.
            places: HashMap::with_capacity(2 * room),
            spare: (0..room).map(|_| String::with_capacity(USUAL)).collect(),
            halved: Moment::default(),
        }
    }

    /// Counts somebody, whose name is only written if he is new.
    pub(super) fn see(&mut self, now: Moment, place: Place<'_>, times: u32, write: impl FnOnce(&mut String)) {
        self.fade(now);
        let Place { hash, group } = place;
        if let Some(at) = self.places.get(&hash) {
            self.counts[*at] += u64::from(times);
            return;
        }
        if self.entries.len() < self.room {
            let mut name = self.spare.pop().unwrap_or_default();
            write(&mut name);
            self.places.insert(hash, self.entries.len());
            self.entries.push(Entry { hash, group: group.clone(), name, error: 0 });
            self.counts.push(times.into());
            return;
        }
        let least = self.counts.iter().copied().min().unwrap_or(0);
        let at = self.counts.iter().position(|count| *count == least).unwrap_or(0);
        let entry = &mut self.entries[at];
        self.places.remove(&entry.hash);
        self.places.insert(hash, at);
        entry.name.clear();
        write(&mut entry.name);
        (entry.hash, entry.group, entry.error) = (hash, group.clone(), least);
        self.counts[at] = least + u64::from(times);
    }

    /// Those met most often, at most `most`.
    pub(super) fn told(&mut self, now: Moment, most: usize) -> Vec<Sighting> {
        self.fade(now);
        let told = self.entries.iter().zip(&self.counts).map(|(entry, times)| Sighting {
            group: entry.group.clone(),
            name: entry.name.as_str().into(),
            times: *times,
            error: entry.error,
        });
        let mut told: Vec<_> = told.filter(|sighting| sighting.times > sighting.error).collect();
        told.sort_by(|a, b| (b.times, &a.name).cmp(&(a.times, &b.name)));
        told.truncate(most);
        told
    }

    /// Halves the counts once for each minute that has passed.
    fn fade(&mut self, now: Moment) {
        let halves = now.since(self.halved).as_millis() / HALF.as_millis();
        if halves == 0 {
            return;
        }
        self.halved =
            if halves > GONE { now } else { self.halved.after(HALF * u32::try_from(halves).unwrap_or(0)) };
        let halves = halves.min(GONE);
        self.counts.iter_mut().for_each(|count| *count >>= halves);
        self.entries.iter_mut().for_each(|entry| entry.error >>= halves);
        self.forget();
    }

    /// Removes whoever counts nothing any more.
    fn forget(&mut self) {
        let mut at = 0;
        while at < self.entries.len() {
            if self.counts[at] > 0 {
                at += 1;
                continue;
            }
            self.counts.swap_remove(at);
            let Entry { hash, mut name, .. } = self.entries.swap_remove(at);
            self.places.remove(&hash);
            name.clear();
            self.spare.push(name);
            if let Some(moved) = self.entries.get(at) {
                self.places.insert(moved.hash, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn see(top: &mut Top, seed: &Seed, now: Moment, name: &str, times: u32) {
        let group = Name::new("a").unwrap();
        top.see(now, Place::of(seed, &group, name), times, |to| to.push_str(name));
    }

    proptest! {
        /// The bounds of the paper, against a count of everybody.
        #[test]
        fn nobody_who_is_frequent_is_missed_and_no_count_is_further_off_than_it_says(
            stream in prop::collection::vec((0..40_u8, 1..4_u32), 1..400),
            room in 1..20_usize,
        ) {
            let (mut top, seed) = (Top::new(room), Seed::default());
            let mut exact = HashMap::<String, u64>::new();
            for (name, times) in &stream {
                *exact.entry(name.to_string()).or_default() += u64::from(*times);
                see(&mut top, &seed, Moment::default(), &name.to_string(), *times);
            }
            let all: u64 = exact.values().sum();
            prop_assert!(top.entries.len() <= room);
            prop_assert_eq!(top.counts.iter().sum::<u64>(), all);
            for (entry, count) in top.entries.iter().zip(&top.counts) {
                let exact = exact[&entry.name];
                prop_assert!(*count >= exact && count - entry.error <= exact);
                prop_assert!(entry.error <= all / room as u64);
            }
            for (name, count) in exact {
                let is_met = top.entries.iter().any(|entry| entry.name == name);
                prop_assert!(is_met || count <= all / room as u64, "{name}");
            }
        }

        /// Whatever fades, everybody is found under his own place.
        #[test]
        fn who_fades_leaves_no_trace(
            stream in prop::collection::vec((0..30_u8, 1..100_u32, 0..100_u64), 1..300),
        ) {
            let (mut top, seed, mut now) = (Top::new(8), Seed::default(), Moment::default());
            for (name, times, seconds) in stream {
                now = now.after(Duration::from_secs(seconds));
                see(&mut top, &seed, now, &name.to_string(), times);
                prop_assert_eq!(top.places.len(), top.entries.len());
                prop_assert_eq!(top.counts.len(), top.entries.len());
                for (at, entry) in top.entries.iter().enumerate() {
                    prop_assert_eq!(top.places[&entry.hash], at);
                }
            }
        }
    }

    #[test]
    fn counts_are_halved_every_minute_until_nothing_is_left() {
        let (mut top, seed) = (Top::new(4), Seed::default());
        let at = |seconds| Moment::default().after(Duration::from_secs(seconds));
        see(&mut top, &seed, at(0), "a", 100);
        see(&mut top, &seed, at(59), "b", 10);
        let times = |top: &mut Top, seconds| -> Vec<u64> {
            top.told(at(seconds), 9).iter().map(|sighting| sighting.times).collect()
        };
        assert_eq!(times(&mut top, 59), [100, 10]);
        assert_eq!(times(&mut top, 60), [50, 5]);
        assert_eq!(times(&mut top, 239), [12, 1]);
        assert_eq!(times(&mut top, 240), [6]);
        assert_eq!(times(&mut top, 10_000_000), [0; 0]);
    }
}
