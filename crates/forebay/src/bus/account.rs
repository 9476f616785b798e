//! What is known of one foreign publisher: which of its changes have arrived, which are missing.

use std::{collections::BTreeMap, time::Duration};

use crate::{bus::message::Tally, clock::Moment};

/// Within what time of one beat the next is heard, with all that it counts.
///
/// A beat comes 500 to 600 ms after the last, what it counts at most 400 ms after it was made: sound up to 1 s.
/// A change comes after a beat that is heard within those 400 ms: found within 1.5 s up to 1.1 s.
pub(crate) const SILENT: Duration = Duration::from_secs(1);

/// How often a publisher is found silent before it is held to be dead.
///
/// Whether it died or cannot be heard is not to be seen from here, and what cannot be heard goes on to change.
pub(crate) const DOUBTS: u32 = 30;

/// How many changes of one publisher may be missing at a time.
const HOLES: u64 = 4096;

/// The count of one foreign publisher.
#[derive(Debug)]
pub(crate) struct Account {
    heard: Moment,
    doubts: u32,
    left: bool,
    /// Whether `top` and `holes` are to be trusted: if not, the next beat says what they are.
    counted: bool,
    /// The highest number heard of.
    top: u64,
    /// What is missing up to `top`; with a moment, a beat has vouched for it, and it is lost from then on.
    holes: BTreeMap<u64, Option<Moment>>,
}

impl Account {
    /// Nothing heard yet.
    pub(crate) fn new(now: Moment) -> Self {
        Self { heard: now, doubts: 0, left: false, counted: false, top: 0, holes: BTreeMap::new() }
    }

    /// Counts from the first change on.
    pub(crate) fn from_the_first(now: Moment) -> Self {
        Self { counted: true, top: 1, ..Self::new(now) }
    }

    /// Notes that a change has arrived; false if that is out of all order.
    pub(crate) fn change(&mut self, number: u64) -> bool {
        let sound = !self.counted || self.reach(number);
        self.holes.remove(&number);
        sound
    }

    /// Notes what a beat counts; false if what came before is unknown.
    pub(crate) fn beat(&mut self, now: Moment, tally: &Tally) -> bool {
        let due = self.heard.after(SILENT);
        (self.heard, self.doubts) = (now, 0);
        if !self.counted || !self.reach(tally.through) {
            return self.adopt(tally);
        }
        for number in &tally.skipped {
            self.holes.remove(number);
        }
        for (number, hole) in self.holes.range_mut(..=tally.through) {
            if hole.is_none() && !tally.open.contains(number) {
                *hole = Some(due);
            }
        }
        true
    }

    /// Notes a farewell, which counts like a beat.
    pub(crate) fn bye(&mut self, now: Moment, tally: &Tally) -> bool {
        self.left = true;
        self.beat(now, tally)
    }

    /// When [`Account::overdue`] may have something to say.
    pub(crate) fn due(&self) -> Moment {
        self.holes.values().flatten().copied().fold(self.heard.after(SILENT), Moment::min)
    }

    /// Whether by now a beat, or what one counted, should have arrived and has not.
    pub(crate) fn overdue(&mut self, now: Moment) -> bool {
        let silent = self.heard.after(SILENT) <= now && !self.left;
        let lost = self.holes.values().flatten().any(|due| *due <= now);
        if silent {
            (self.heard, self.doubts) = (now, self.doubts + 1);
        }
        if silent || lost {
            // The others may still be unpublished: only a later beat knows.
            self.holes.retain(|_, due| due.is_none());
        }
        silent || lost
    }

    /// Whether nothing more is to be expected of it.
    pub(crate) fn is_over(&self, now: Moment) -> bool {
        self.doubts >= DOUBTS || (self.left && self.heard.after(SILENT) <= now)
    }

    pub(crate) fn heard(&self) -> Moment {
        self.heard
    }

    pub(crate) fn has_left(&self) -> bool {
        self.left
    }

    /// Makes holes of all numbers up to `number` that are new; false if those were too many.
    fn reach(&mut self, number: u64) -> bool {
        let room = HOLES.saturating_sub(self.holes.len() as u64);
        if number.saturating_sub(self.top) > room {
            self.counted = false;
            self.holes.clear();
            return false;
        }
        self.holes.extend((self.top..number).map(|before| (before + 1, None)));
        self.top = self.top.max(number);
        true
    }

    fn adopt(&mut self, tally: &Tally) -> bool {
        self.counted = true;
        self.top = tally.through;
        self.holes = tally.open.iter().map(|number| (*number, None)).collect();
        tally.through == 0
    }
}
