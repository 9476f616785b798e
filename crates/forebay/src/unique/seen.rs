//! Who was counted today already, as far as that is remembered: they are not sent again and again.

use std::{collections::HashSet, time::Duration};

use jiff::civil::Date;

use super::visitor::Visitor;
use crate::{clock::Moment, hash::Seed};

/// Twice as many are remembered at most.
const ROOM: usize = 32_768;

/// Between one and two of these they are forgotten: what Redis has lost meanwhile is counted again then.
const LIFE: Duration = Duration::from_secs(300);

/// Two generations of visitors of one day.
#[derive(Debug, Default)]
pub(super) struct Seen {
    date: Date,
    until: Moment,
    young: HashSet<Visitor, Seed>,
    old: HashSet<Visitor, Seed>,
    turned: Moment,
}

impl Seen {
    pub(super) fn has(&self, visitor: &Visitor, now: Moment) -> bool {
        let remembers = now < self.until && now.since(self.turned) < LIFE * 2;
        remembers
            && (self.young.contains(visitor) || (now.since(self.turned) < LIFE && self.old.contains(visitor)))
    }

    /// Takes note of what day it is, and when it ends.
    pub(super) fn on(&mut self, date: Date, until: Moment, now: Moment) {
        if self.date != date {
            *self = Self { date, turned: now, ..Self::default() };
        }
        self.until = until;
    }

    /// Remembers those that were counted on `date`, if that is today.
    pub(super) fn add(&mut self, date: Date, visitors: impl Iterator<Item = Visitor>, now: Moment) {
        if date != self.date {
            return;
        }
        for visitor in visitors {
            if self.young.len() >= ROOM || now.since(self.turned) >= LIFE {
                self.old = std::mem::take(&mut self.young);
                self.turned = now;
            }
            self.young.insert(visitor);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    const TODAY: Date = date(2027, 1, 15);

    fn second(seconds: u64) -> Moment {
        Moment::default().after(Duration::from_secs(seconds))
    }

    fn visitor(n: usize) -> Visitor {
        Visitor::of(&n.to_string())
    }

    fn seen() -> Seen {
        let mut seen = Seen::default();
        seen.on(TODAY, second(86_400), second(0));
        seen.add(TODAY, [visitor(0)].into_iter(), second(0));
        seen
    }

    #[test]
    fn one_is_remembered_for_a_while_of_the_same_day() {
        let mut seen = seen();
        assert!(seen.has(&visitor(0), second(299)) && !seen.has(&visitor(1), second(299)));
        seen.add(TODAY, [visitor(1)].into_iter(), second(300));
        assert!(seen.has(&visitor(0), second(599)) && !seen.has(&visitor(0), second(600)));
        seen.on(TODAY, second(301), second(300));
        assert!(!seen.has(&visitor(0), second(301)), "the day is over");
    }

    #[test]
    fn nobody_is_remembered_for_ever_though_nobody_else_comes() {
        assert!(!seen().has(&visitor(0), second(600)));
    }

    #[test]
    fn another_day_knows_nobody() {
        let mut seen = seen();
        seen.add(date(2027, 1, 14), [visitor(1)].into_iter(), second(1));
        assert!(!seen.has(&visitor(1), second(1)));
        seen.on(date(2027, 1, 16), second(100_000), second(1));
        assert!(!seen.has(&visitor(0), second(1)));
    }

    #[test]
    fn there_is_room_for_so_many() {
        let mut seen = seen();
        seen.add(TODAY, (1..=5 * ROOM).map(visitor), second(0));
        assert!(seen.young.len() + seen.old.len() <= 2 * ROOM);
        assert!(!seen.has(&visitor(0), second(0)) && seen.has(&visitor(5 * ROOM), second(0)));
    }
}
