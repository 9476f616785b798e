//! What has happened lately that an operator would want to know: counters that should stand still, and states that
//! have changed. No ids, no subjects.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use super::scrape::{Scrape, Series};

/// How many notes are kept.
const MOST: usize = 100;

/// For how long the same thing is added to its note, instead of making another.
const TOGETHER_MS: u64 = 60_000;

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Note {
    /// When it was first seen, in milliseconds since 1970.
    first_ms: u64,
    last_ms: u64,
    what: &'static str,
    /// The space, policy or topic; of Redis the kind of error.
    about: String,
    /// How often; of a change of state 1.
    count: u64,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Info,
    Warning,
}

/// A counter whose growth is worth a note.
struct Watched {
    family: &'static str,
    /// A label, and the values of it that count; all where this is empty.
    only: (&'static str, &'static [&'static str]),
    /// The label that says what it is about.
    about: &'static str,
    what: &'static str,
    level: Level,
}

const fn warning(
    what: &'static str,
    family: &'static str,
    about: &'static str,
    only: (&'static str, &'static [&'static str]),
) -> Watched {
    Watched { family, only, about, what, level: Level::Warning }
}

const fn outcomes(outcomes: &'static [&'static str]) -> (&'static str, &'static [&'static str]) {
    ("outcome", outcomes)
}

const ANY: (&str, &[&str]) = ("", &[]);
const LOADS: &str = "forebay_cache_loads_total";
const CHECKS: &str = "forebay_limiter_decisions_total";

const WATCHED: &[Watched] = &[
    warning("Loads failed", LOADS, "space", outcomes(&["failed", "panicked"])),
    warning("Loads took longer than their timeout", LOADS, "space", outcomes(&["timed_out"])),
    warning("Loads found no permit in time", LOADS, "space", outcomes(&["overloaded"])),
    warning("Loads were refused by the breaker of their origin", LOADS, "space", outcomes(&["refused"])),
    warning("The breaker of an origin opened", "forebay_cache_origin_breaker_opened_total", "space", ANY),
    warning("Stored entries could not be read", "forebay_cache_unreadable_total", "space", ANY),
    Watched {
        level: Level::Info,
        ..warning("Calls were refused", CHECKS, "policy", outcomes(&["denied", "remembered", "never_fits"]))
    },
    warning("Limits could not be asked for", CHECKS, "policy", outcomes(&["unavailable"])),
    warning("Locks were lost by their holders", "forebay_locks_lost_total", "", ANY),
    warning("Redis was asked in vain", "forebay_redis_errors_total", "kind", ANY),
    warning("Changes of other processes may have been missed", "forebay_bus_gaps_total", "", ANY),
    warning("Visitors were not counted", "forebay_visitors_total", "counter", outcomes(&["dropped"])),
    warning(
        "Messages were put aside, or lost",
        "forebay_topic_messages_total",
        "topic",
        outcomes(&["dead_lettered", "lost"]),
    ),
];

/// A state, with what is said when it ends and when it is back.
const STATES: &[(&str, &str, &str)] = &[
    ("forebay_redis_usable", "Redis cannot be asked: this process answers alone", "Redis answers again"),
    ("forebay_bus_hears", "Other processes are not heard", "Other processes are heard again"),
];

/// What was noted, and as of when.
#[derive(Debug, Default)]
pub(super) struct Notes {
    notes: VecDeque<Note>,
    counts: Option<BTreeMap<(usize, String), f64>>,
    /// The states that were noted as over.
    over: BTreeSet<&'static str>,
}

impl Notes {
    /// Notes what is new in `scrape`.
    pub(super) fn take(&mut self, scrape: &Scrape, now_ms: u64) {
        let counts = counts(scrape);
        // What has happened before the first look has no time, and a process that has just begun is not connected yet.
        if let Some(before) = self.counts.take() {
            for ((watched, about), count) in &counts {
                let grown = count - before.get(&(*watched, about.clone())).unwrap_or(&0.0);
                if grown > 0.0 {
                    self.note(&WATCHED[*watched], about, grown, now_ms);
                }
            }
            STATES.iter().for_each(|state| self.state(*state, scrape, now_ms));
        }
        self.counts = Some(counts);
    }

    /// From the last to the first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().rev()
    }

    fn state(
        &mut self,
        (family, over, back): (&'static str, &'static str, &'static str),
        scrape: &Scrape,
        now_ms: u64,
    ) {
        let Some(value) = scrape.sum(family, |_| true) else { return };
        let (what, level) = match value > 0.0 {
            true if self.over.remove(family) => (back, Level::Info),
            false if self.over.insert(family) => (over, Level::Warning),
            _ => return,
        };
        self.push(Note { first_ms: now_ms, last_ms: now_ms, what, about: String::new(), count: 1, level });
    }

    fn note(&mut self, watched: &Watched, about: &str, grown: f64, now_ms: u64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a count, and above 0"
        )]
        let count = grown as u64;
        let same = |note: &&mut Note| note.what == watched.what && note.about == about;
        let recent = self.notes.iter_mut().rev().find(same);
        if let Some(note) = recent.filter(|note| now_ms.saturating_sub(note.last_ms) < TOGETHER_MS) {
            note.count += count;
            note.last_ms = now_ms;
            return;
        }
        let (what, level, about) = (watched.what, watched.level, about.to_owned());
        self.push(Note { first_ms: now_ms, last_ms: now_ms, what, about, count, level });
    }

    fn push(&mut self, note: Note) {
        if self.notes.len() >= MOST {
            self.notes.pop_front();
        }
        self.notes.push_back(note);
    }
}

/// How far the counters that are watched have come, by what they are about.
fn counts(scrape: &Scrape) -> BTreeMap<(usize, String), f64> {
    let mut counts = BTreeMap::new();
    for (index, watched) in WATCHED.iter().enumerate() {
        for series in scrape.series(watched.family).iter().filter(|series| watched.takes(series)) {
            *counts.entry((index, series.label(watched.about).to_owned())).or_default() += series.value;
        }
    }
    counts
}

impl Watched {
    fn takes(&self, series: &Series) -> bool {
        let (label, values) = self.only;
        values.is_empty() || values.contains(&series.label(label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(count: u32) -> Scrape {
        Scrape::read(&format!(
            "forebay_cache_loads_total{{space=\"a\",outcome=\"failed\"}} {count}\n\
             forebay_cache_loads_total{{space=\"a\",outcome=\"value\"}} {}\n",
            count * 100
        ))
    }

    fn told(notes: &Notes) -> Vec<(&str, &str, u64)> {
        notes.iter().map(|note| (note.what, note.about.as_str(), note.count)).collect()
    }

    #[test]
    fn what_is_watched_are_labels_of_metrics_that_there_are() {
        use forebay::metrics::table::TABLE;
        for Watched { family, only: (label, values), about, .. } in WATCHED {
            let metric = TABLE.iter().find(|metric| metric.name == *family).expect(family);
            let named = |name: &str| metric.labels.iter().find(|label| label.name == name);
            assert!(about.is_empty() || named(about).is_some(), "{family}");
            assert!(
                values.iter().all(|value| named(label).expect(family).values.contains(value)),
                "{family}"
            );
        }
        assert!(STATES.iter().all(|(family, ..)| TABLE.iter().any(|metric| metric.name == *family)));
    }

    #[test]
    fn what_was_there_before_is_not_news() {
        let mut notes = Notes::default();
        notes.take(&failures(7), 1_000);
        assert_eq!(told(&notes), []);
    }

    #[test]
    fn what_goes_on_is_one_note_and_what_happens_later_another() {
        let mut notes = Notes::default();
        for (count, seconds) in [(7, 1), (8, 2), (10, 30), (10, 60), (11, 200)] {
            notes.take(&failures(count), seconds * 1_000);
        }
        assert_eq!(told(&notes), [("Loads failed", "a", 1), ("Loads failed", "a", 3)]);
    }

    #[test]
    fn a_state_is_noted_when_it_changes() {
        let mut notes = Notes::default();
        for usable in [0, 1, 0, 0, 1] {
            notes.take(&Scrape::read(&format!("forebay_redis_usable {usable}")), 1_000);
        }
        let [back, over] = STATES[0..1].iter().flat_map(|state| [state.2, state.1]).collect::<Vec<_>>()[..]
        else {
            panic!("one state is two texts")
        };
        assert_eq!(told(&notes), [(back, "", 1), (over, "", 1)]);
    }

    #[test]
    fn so_many_are_kept() {
        let mut notes = Notes::default();
        for count in 0..300 {
            notes.take(&failures(count), u64::from(count) * TOGETHER_MS);
        }
        assert_eq!(notes.iter().count(), MOST);
    }
}
