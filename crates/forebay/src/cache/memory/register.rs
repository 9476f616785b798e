//! The numbers of one space of the memory store.

use std::{sync::Arc, time::Duration};

use crate::{
    cache::{
        backend::{Purpose, Question},
        numbers::{Group, Known},
        options::life_of_numbers,
    },
    expiring::{Expiring, Next},
    key::{Keys, Name},
    sync::Mutex,
};

/// The numbers of the tags of all spaces, by their keys.
pub(crate) type Tags = Expiring<u64>;

/// How many tags have numbers. Beyond, all begin anew, and what has a tag is loaded again.
const MOST_TAGS: usize = 1_000_000;

/// The numbers of one space.
#[derive(Debug)]
pub(crate) struct Register {
    name: Name,
    keys: Keys,
    tags: Arc<Tags>,
    longest: Duration,
    space: Mutex<Space>,
}

#[derive(Debug)]
struct Space {
    now: u64,
    clear: u64,
}

impl Register {
    /// Of a space whose entries live for `longest`, unless they say otherwise.
    pub(crate) fn new(name: Name, keys: Keys, tags: Arc<Tags>, longest: Duration) -> Self {
        Self { name, keys, tags, longest, space: Mutex::new(Space { now: 1, clear: 1 }) }
    }

    pub(super) fn answer(&self, question: &Question<'_>) -> Known {
        let space = self.space.lock();
        let tags = question.tags.iter().map(|tag| self.number(tag, question.purpose, space.now)).collect();
        Known { now: Some(space.now), clear: Some(space.clear), tags }
    }

    pub(super) fn raise(&self, group: &Group, own: u64) -> u64 {
        let mut space = self.space.lock();
        space.now = own.max(space.now + 1);
        match group {
            Group::Space => space.clear = space.now,
            Group::Tag(tag) => self.set(tag, space.now),
        }
        space.now
    }

    fn number(&self, tag: &str, purpose: Purpose, now: u64) -> Option<u64> {
        let Purpose::Fill(life) = purpose else {
            return self.tags.step(&self.key(tag), |held| (Next::Keep, held.map(|(number, _)| *number)));
        };
        self.make_room();
        let life = life_of_numbers(life.max(self.longest));
        Some(self.tags.step(&self.key(tag), |held| match held {
            Some((number, left)) => (Next::Prolong(life.max(left)), *number),
            None => (Next::Set(now, life), now),
        }))
    }

    fn set(&self, tag: &str, number: u64) {
        self.make_room();
        let life = life_of_numbers(self.longest);
        self.tags.step(&self.key(tag), |held| {
            let left = held.map_or(Duration::ZERO, |(_, left)| left);
            (Next::Set(number, life.max(left)), ())
        });
    }

    fn make_room(&self) {
        if self.tags.len() >= MOST_TAGS {
            self.tags.clear();
        }
    }

    fn key(&self, tag: &str) -> String {
        self.keys.tag(&self.name, tag)
    }
}
