//! How far a reader of a durable topic has come, and how it finds what it was not given.

use std::time::Duration;

use bytes::Bytes;

use super::{
    Id,
    backend::{From, Page},
};
use crate::clock::Moment;

/// How much earlier than by this process's clock a topic may end.
const SLACK: Duration = Duration::from_secs(1);

/// Where a reader stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// It wants what comes from now on, and does not know yet where that is.
    End,
    /// Before whatever is kept.
    Kept,
    /// Behind this place.
    After(Id),
}

/// What a reader learns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Message(Id, Bytes),
    /// A message that was not written by a topic.
    Unreadable,
    /// So many were missed, where that is known.
    Missed(Option<u64>),
    /// The topic was silent until it ended: the next number is 1.
    Ended,
}

/// What a message is to a reader that is given it by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Next,
    Known,
    /// Others may lie between.
    Beyond,
}

#[derive(Debug)]
pub(super) struct Cursor {
    at: At,
    /// For how long messages are kept.
    keep_for: Duration,
    /// When there was nothing behind the place, and until when it is known to be kept.
    level: Option<(Moment, Moment)>,
}

impl Cursor {
    /// At what comes from now on.
    pub(super) fn at_end(keep_for: Duration) -> Self {
        Self { at: At::End, keep_for, level: None }
    }

    /// Behind `id`.
    pub(super) fn after(id: Id, keep_for: Duration) -> Self {
        let at = if id == Id::BEGINNING { At::Kept } else { At::After(id) };
        Self { at, keep_for, level: None }
    }

    pub(super) fn from(&self) -> From {
        match self.at {
            At::End => From::End,
            At::Kept => From::After(Id::BEGINNING),
            At::After(id) => From::After(id),
        }
    }

    /// Reads a page that was asked for by [`Cursor::from`].
    pub(super) fn take(&mut self, page: Page, now: Moment) -> Vec<Step> {
        let asked = self.from();
        let mut steps: Vec<_> = self.before(&page, now).into_iter().collect();
        let is_rewound = self.at == At::Kept && self.from() != asked;
        let (is_last, last) = (page.is_last() && !is_rewound, page.last.unwrap_or(Id::BEGINNING));
        for kept in page.messages {
            steps.extend(self.missed_until(kept.id).map(Step::Missed));
            self.at = At::After(kept.id);
            steps.push(kept.payload.map_or(Step::Unreadable, |payload| Step::Message(kept.id, payload)));
        }
        if is_last && self.at == At::Kept {
            self.at = At::After(last);
        }
        self.level = is_last.then(|| (now, now.after(page.left)));
        steps
    }

    /// Whether there was nothing more to read.
    pub(super) fn is_level(&self) -> bool {
        self.level.is_some()
    }

    /// What `id` is, where somebody else has read it.
    pub(super) fn place(&self, id: Id) -> Place {
        match self.at {
            At::After(at) if id <= at => Place::Known,
            At::After(at) if at.between(id) == Some(0) => Place::Next,
            _ => Place::Beyond,
        }
    }

    /// Goes on to `id`, which is the next.
    pub(super) fn advance(&mut self, id: Id, now: Moment) {
        self.at = At::After(id);
        self.level = Some((now, now.after(self.keep_for)));
    }

    /// The topic has ended while somebody else, who knew as much, looked on.
    pub(super) fn end(&mut self) {
        self.at = At::After(Id::BEGINNING);
    }

    /// What a page says by what is not in it.
    fn before(&mut self, page: &Page, now: Moment) -> Option<Step> {
        match (self.at, page.last) {
            (At::End, last) => {
                self.at = At::After(last.unwrap_or(Id::BEGINNING));
                None
            }
            (At::After(at), None) if at != Id::BEGINNING => {
                self.at = At::After(Id::BEGINNING);
                Some(if self.has_ended_by_itself(now) { Step::Ended } else { Step::Missed(None) })
            }
            // Another history than that which was read: it is read from its beginning.
            (At::After(at), Some(last)) if last < at => {
                self.at = At::Kept;
                Some(Step::Missed(None))
            }
            _ => None,
        }
    }

    fn missed_until(&self, next: Id) -> Option<Option<u64>> {
        let At::After(at) = self.at else { return None };
        match at.between(next) {
            Some(0) => None,
            missed => Some(missed),
        }
    }

    /// Whether a topic that is gone had nothing new: whatever had come would have kept it.
    fn has_ended_by_itself(&self, now: Moment) -> bool {
        self.level.is_some_and(|(at, until)| now.after(SLACK) >= until && now.since(at) < self.keep_for)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::backend::Kept, *};

    const KEEP: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Moment {
        Moment::default().after(Duration::from_secs(seconds))
    }

    fn id(number: u64) -> Id {
        Id { ms: 1_000 + number, number }
    }

    fn page(numbers: impl IntoIterator<Item = u64>, last: u64, left: Duration) -> Page {
        let kept = |number| Kept { id: id(number), payload: Some(Bytes::new()) };
        Page { messages: numbers.into_iter().map(kept).collect(), last: Some(id(last)), left }
    }

    fn gone() -> Page {
        Page { messages: Vec::new(), last: None, left: Duration::ZERO }
    }

    fn message(number: u64) -> Step {
        Step::Message(id(number), Bytes::new())
    }

    #[test]
    fn what_was_trimmed_away_is_counted() {
        let mut cursor = Cursor::after(id(3), KEEP);
        let steps = cursor.take(page([7, 8], 8, KEEP), at(0));
        assert_eq!(steps, [Step::Missed(Some(3)), message(7), message(8)]);
        assert_eq!(cursor.take(page([9], 9, KEEP), at(1)), [message(9)]);
    }

    #[test]
    fn whoever_wants_all_that_is_kept_misses_nothing() {
        let mut cursor = Cursor::after(Id::BEGINNING, KEEP);
        assert_eq!(cursor.take(page([7], 7, KEEP), at(0)), [message(7)]);
    }

    #[test]
    fn whoever_found_nothing_kept_misses_what_is_gone_when_it_looks_again() {
        for (nothing, next) in [(gone(), 1), (page([], 4, KEEP), 5)] {
            let mut cursor = Cursor::after(Id::BEGINNING, KEEP);
            assert_eq!(cursor.take(nothing, at(0)), []);
            assert!(cursor.is_level());
            let steps = cursor.take(page([next + 2], next + 2, KEEP), at(0));
            assert_eq!(steps, [Step::Missed(Some(2)), message(next + 2)]);
        }
    }

    #[test]
    fn a_topic_that_ends_in_silence_is_no_loss() {
        let mut cursor = Cursor::at_end(KEEP);
        assert_eq!(cursor.take(page([], 5, KEEP / 2), at(0)), []);
        assert_eq!(cursor.take(gone(), at(30)), [Step::Ended]);
        assert_eq!(cursor.take(page([1], 1, KEEP), at(31)), [message(1)]);
    }

    #[test]
    fn a_topic_that_is_gone_before_its_time_or_long_unseen_may_be_a_loss() {
        for (left, seconds) in [(KEEP, 30), (KEEP / 2, 61)] {
            let mut cursor = Cursor::at_end(KEEP);
            assert_eq!(cursor.take(page([], 5, left), at(0)), []);
            assert_eq!(cursor.take(gone(), at(seconds)), [Step::Missed(None)]);
        }
    }

    #[test]
    fn another_history_is_read_from_its_beginning() {
        let mut cursor = Cursor::after(id(9), KEEP);
        assert_eq!(cursor.take(page([], 2, KEEP), at(0)), [Step::Missed(None)]);
        assert!(!cursor.is_level());
        assert_eq!(cursor.from(), From::After(Id::BEGINNING));
        assert_eq!(cursor.take(page([1, 2], 2, KEEP), at(0)), [message(1), message(2)]);
    }

    #[test]
    fn only_the_very_next_is_taken_from_others() {
        let mut cursor = Cursor::after(id(4), KEEP);
        assert_eq!([3, 4, 5, 6].map(|number| cursor.place(id(number))), {
            [Place::Known, Place::Known, Place::Next, Place::Beyond]
        });
        cursor.advance(id(5), at(0));
        assert_eq!(cursor.place(id(6)), Place::Next);
        assert_eq!(Cursor::at_end(KEEP).place(id(1)), Place::Beyond);
    }
}
