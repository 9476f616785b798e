//! What a process knows of the numbers of one space: of its tags, and of the space as a whole.
//!
//! Numbers are only ever raised. An entry has the number that its space had when its load began; whatever was raised
//! above that since has passed the entry. So a number that is known from any time still says what it has passed, and
//! what this process has not heard of is the only thing that it must ask for.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, fmt, ops::Deref, sync::Arc};

use super::{epochs::Epochs, fence::Epoch};
use crate::{hash::Seed, sync::Mutex};

/// What an entry carries: the number of its space when its load began, and its tags, encoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) number: u64,
    pub(crate) tags: Tags,
}

/// Tags, encoded. Most entries have none: those cost nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tags(Option<Arc<[Box<str>]>>);

impl Deref for Tags {
    type Target = [Box<str>];

    fn deref(&self) -> &[Box<str>] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<&[Box<str>]> for Tags {
    fn from(tags: &[Box<str>]) -> Self {
        Self((!tags.is_empty()).then(|| tags.into()))
    }
}

impl FromIterator<Box<str>> for Tags {
    fn from_iter<I: IntoIterator<Item = Box<str>>>(tags: I) -> Self {
        let mut tags = tags.into_iter().peekable();
        Self(tags.peek().is_some().then(|| tags.collect()))
    }
}

/// Entries that are invalidated together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Group {
    /// Those with a tag, given encoded.
    Tag(Box<str>),
    /// All of the space.
    Space,
}

/// The numbers that a store has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) now: Option<u64>,
    pub(crate) clear: Option<u64>,
    /// Of the tags that were asked for, in their order.
    pub(crate) tags: Vec<Option<u64>>,
}

impl Known {
    /// Whether an entry is current by these numbers, which are of its tags.
    pub(crate) fn admits(&self, stamp: &Stamp) -> bool {
        let reached = |number: &Option<u64>| number.is_some_and(|number| number <= stamp.number);
        let begun = self.now.is_some_and(|now| stamp.number <= now);
        begun && reached(&self.clear) && self.tags.iter().all(reached)
    }
}

/// What a process can say of an entry by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Current,
    /// A tag of it, or the whole space, was invalidated since its load began.
    Passed,
    /// The store has to be asked.
    Unknown,
}

/// When the store was asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    epoch: u32,
    /// How often tags had been forgotten.
    forgotten: u64,
}

/// What is known of the numbers of one space.
pub(crate) struct Numbers {
    /// That of values in process memory: moves when something may have been missed, as far as the space minds that, and
    /// when the whole space is invalidated.
    pub(crate) epoch: Epoch,
    /// That of the numbers, which have no life after which they would be asked for again: minds all that may have been
    /// missed.
    pub(crate) heard: Epoch,
    epochs: Arc<Epochs>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tops: Tops,
    clear: Held,
    tags: HashMap<Box<str>, Held, Seed>,
    forgotten: u64,
}

struct Tops {
    /// The highest number that the store has given.
    seen: u64,
    /// The highest there is, those included that this process has raised by itself.
    highest: u64,
}

impl Default for Tops {
    /// Zero is the number of entries that have none.
    fn default() -> Self {
        Self { seen: 0, highest: 1 }
    }
}

impl Tops {
    fn see(&mut self, number: u64) {
        self.seen = self.seen.max(number);
        self.highest = self.highest.max(number);
    }
}

/// An epoch in which no number is trusted.
const NEVER: u32 = 1;

/// What is known of one number.
#[derive(Debug, Clone, Copy)]
struct Held {
    at_least: u64,
    /// In this epoch it is exactly that.
    epoch: u32,
    /// What this process has raised it to while the store has not confirmed that; zero when it has.
    own: u64,
}

impl Default for Held {
    fn default() -> Self {
        Self { at_least: 0, epoch: NEVER, own: 0 }
    }
}

impl Held {
    /// Whether it has grown.
    fn raise(&mut self, to: u64) -> bool {
        let grows = self.at_least < to;
        self.at_least = self.at_least.max(to);
        grows
    }

    /// What the store has answered; without a number, there is nothing to trust in.
    fn learn(&mut self, number: Option<u64>, epoch: u32) {
        self.raise(number.unwrap_or(0));
        self.epoch = if number.is_some() { epoch } else { NEVER };
    }

    fn confirm(&mut self, own: u64) {
        if self.own <= own {
            self.own = 0;
        }
    }
}

impl Numbers {
    pub(super) fn new(epoch: Epoch, heard: Epoch, epochs: Arc<Epochs>) -> Self {
        Self { epoch, heard, epochs, state: Mutex::default() }
    }

    /// The highest number that the store has given, as far as this process knows.
    pub(crate) fn seen(&self) -> u64 {
        self.state.lock().tops.seen
    }

    /// The number for a load that no store is asked about.
    pub(crate) fn highest(&self) -> u64 {
        self.state.lock().tops.highest
    }

    /// What can be said of an entry without asking.
    pub(crate) fn judge(&self, stamp: &Stamp) -> Judgement {
        let epoch = self.heard.now();
        let state = self.state.lock();
        let mut known = epoch.is_multiple_of(2) && stamp.number <= state.tops.highest;
        let tags = stamp.tags.iter().map(|tag| state.tags.get(tag));
        for held in tags.chain([Some(&state.clear)]) {
            match held {
                Some(held) if held.at_least > stamp.number => return Judgement::Passed,
                // Others may have raised the space further than this process had heard when it passed the group.
                Some(held) if held.own > 0 && stamp.number <= state.tops.seen => return Judgement::Passed,
                held => known &= held.is_some_and(|held| held.epoch == epoch),
            }
        }
        if known { Judgement::Current } else { Judgement::Unknown }
    }

    /// Whether an entry is certainly not current.
    pub(crate) fn have_passed(&self, stamp: &Stamp) -> bool {
        self.judge(stamp) == Judgement::Passed
    }

    /// Marks that the store is about to be asked.
    pub(crate) fn ask(&self) -> Asked {
        Asked { epoch: self.heard.now(), forgotten: self.state.lock().forgotten }
    }

    /// Takes note of what the store has answered about `tags`.
    pub(crate) fn learn(&self, asked: Asked, tags: &[Box<str>], known: &Known) {
        if !tags.is_empty() {
            self.epochs.make_room();
        }
        let state = &mut *self.state.lock();
        state.tops.see(known.now.unwrap_or(0));
        state.clear.learn(known.clear, asked.epoch);
        // What was raised meanwhile may be among what was forgotten.
        if state.forgotten == asked.forgotten {
            for (tag, number) in tags.iter().zip(&known.tags) {
                self.held(&mut state.tags, tag).learn(*number, asked.epoch);
            }
        }
    }

    /// Invalidates `group` in this process: before the store does it, and until the store confirms it. Returns the
    /// number for [`Numbers::confirm`].
    pub(crate) fn pass(&self, group: &Group) -> u64 {
        let own = self.step(group, |tops, held| {
            tops.highest += 1;
            held.own = tops.highest;
            held.raise(held.own);
            held.own
        });
        self.suspect(group);
        own
    }

    /// What [`Numbers::pass`] has answered last, where the store has not confirmed that.
    pub(crate) fn pending(&self, group: &Group) -> u64 {
        self.step(group, |tops, held| if held.own > 0 { held.own } else { tops.highest })
    }

    /// The store has raised `group` to `to`, after [`Numbers::pass`] had answered `own`.
    pub(crate) fn confirm(&self, group: &Group, own: u64, to: u64) {
        self.raised(group, to);
        self.step(group, |_, held| held.confirm(own));
        if *group == Group::Space {
            // With that, what it had not confirmed of tags is done.
            self.state.lock().tags.values_mut().for_each(|held| held.confirm(own));
        }
    }

    /// Somebody has raised `group` to `to`.
    pub(crate) fn raised(&self, group: &Group, to: u64) {
        let grown = self.step(group, |tops, held| {
            tops.see(to);
            held.raise(to)
        });
        if grown {
            self.suspect(group);
        }
    }

    /// Forgets the tags, but for what the store has not confirmed.
    pub(super) fn forget_tags(&self) {
        let mut state = self.state.lock();
        let before = state.tags.len();
        state.tags.retain(|_, held| held.own > 0);
        state.forgotten += 1;
        self.epochs.count_tags(0, before - state.tags.len());
    }

    /// Hits look no further than at the epoch, unless the entry has tags.
    fn suspect(&self, group: &Group) {
        if *group == Group::Space {
            self.epoch.missed();
            self.heard.missed();
        }
    }

    fn step<R>(&self, group: &Group, step: impl FnOnce(&mut Tops, &mut Held) -> R) -> R {
        if matches!(group, Group::Tag(_)) {
            self.epochs.make_room();
        }
        let state = &mut *self.state.lock();
        let held = match group {
            Group::Space => &mut state.clear,
            Group::Tag(tag) => self.held(&mut state.tags, tag),
        };
        step(&mut state.tops, held)
    }

    fn held<'a>(&self, tags: &'a mut HashMap<Box<str>, Held, Seed>, tag: &str) -> &'a mut Held {
        if !tags.contains_key(tag) {
            self.epochs.count_tags(1, 0);
        }
        tags.entry(tag.into()).or_default()
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        self.epochs.count_tags(0, self.state.lock().tags.len());
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbers").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}
