//! A bounded map from ids of all spaces to what one level keeps of them.

use std::{
    cell::RefCell,
    hash::{Hash, Hasher},
    time::Duration,
};

use equivalent::Equivalent;
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle, EntryAction},
};

/// What an entry weighs besides its value and its key.
pub(crate) const OVERHEAD: u64 = 200;

/// A shard smaller than this would refuse values that the budget has room for.
const SMALLEST_SHARD: u64 = 2 << 20;

/// Only sizes the tables that the map begins with.
const TYPICAL_ENTRY: u64 = 1 << 10;

/// The longest id that takes no more room in its place than a pointer to it.
const SHORT: usize = 18;

/// The number of one space in one process memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Space(pub(super) u32);

/// Says how many bytes a value takes.
pub(crate) trait Weigh: Clone {
    fn bytes(&self) -> u64;
}

/// Entries of one level, the least useful of which make room for new ones.
pub(crate) struct Slots<T: Weigh>(Cache<Key, T, Weight>);

impl<T: Weigh> Slots<T> {
    pub(crate) fn new(capacity: u64) -> Self {
        let mut options = OptionsBuilder::new();
        let estimate = usize::try_from(capacity / TYPICAL_ENTRY).unwrap_or(usize::MAX).clamp(64, 1 << 20);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let roomy = usize::try_from(capacity / SMALLEST_SHARD).unwrap_or(usize::MAX).max(1);
        options.weight_capacity(capacity).estimated_items_capacity(estimate).shards(roomy.min(cores * 4));
        let options = options.build().expect("capacity and estimate are both set");
        Self(Cache::with_options(options, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default()))
    }

    /// Takes a read lock; allocates nothing.
    // Left to itself, the compiler calls three functions here that are shorter than a call.
    #[inline(always)]
    pub(crate) fn get(&self, space: Space, id: &str) -> Option<T> {
        self.0.get(&Name { space, id: id.as_bytes() })
    }

    /// Shows the value to `look` in its place, under the lock of a writer.
    pub(crate) fn look<R>(&self, space: Space, id: &str, look: impl FnOnce(&T) -> R) -> Option<R> {
        let mut seen = None;
        self.0.remove_if(&Name { space, id: id.as_bytes() }, |value| {
            seen = Some(look(value));
            false
        });
        seen
    }

    pub(crate) fn insert(&self, space: Space, id: &str, value: T) {
        self.0.insert(Key::new(space, id), value);
    }

    pub(crate) fn remove(&self, space: Space, id: &str) {
        self.0.remove(&Name { space, id: id.as_bytes() });
    }

    /// Lets `change` change the value in its place, if there is one, and removes it unless that answers `true`:
    /// one step, so that nothing comes back which is removed at the same time.
    pub(crate) fn keep_if(&self, space: Space, id: &str, change: impl FnOnce(&mut T) -> bool) {
        if !self.0.contains_key(&Name { space, id: id.as_bytes() }) {
            return;
        }
        let key = Key::new(space, id);
        let act = |_: &Key, value: &mut T| match change(value) {
            true => EntryAction::Retain(()),
            false => EntryAction::Remove,
        };
        // Where the value has gone meanwhile, nothing is put in its place.
        drop(self.0.entry(&key, Some(Duration::ZERO), act));
    }

    /// The ids of a space that `wants` takes.
    pub(crate) fn ids(&self, space: Space, wants: impl Fn(&str) -> bool) -> Vec<Box<str>> {
        let found = RefCell::new(Vec::new());
        // Shard by shard under its lock, where an iterator would clone every value.
        self.0.retain(|key, _| {
            let id = str::from_utf8(key.id()).ok().filter(|id| key.space() == space && wants(id));
            found.borrow_mut().extend(id.map(Box::from));
            true
        });
        found.into_inner()
    }

    pub(crate) fn retain(&self, keep: impl Fn(&T) -> bool) {
        self.0.retain(|_, value| keep(value));
    }

    pub(crate) fn weight(&self) -> u64 {
        self.0.weight()
    }

    pub(crate) fn entries(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn set_capacity(&self, capacity: u64) {
        self.0.set_capacity(capacity);
    }

    /// The most that one entry can weigh.
    pub(crate) fn largest(&self) -> u64 {
        self.0.shard_capacity()
    }
}

/// An id of a space. A short one is kept in its place, so that a hit follows one pointer less.
#[derive(Clone)]
enum Key {
    Short { space: Space, length: u8, id: [u8; SHORT] },
    Long { space: Space, id: Box<str> },
}

impl Key {
    fn new(space: Space, id: &str) -> Self {
        let mut place = [0; SHORT];
        let Some(short) = place.get_mut(..id.len()) else {
            return Self::Long { space, id: id.into() };
        };
        short.copy_from_slice(id.as_bytes());
        Self::Short { space, length: id.len() as u8, id: place }
    }

    #[inline(always)]
    fn space(&self) -> Space {
        match self {
            Self::Short { space, .. } | Self::Long { space, .. } => *space,
        }
    }

    #[inline(always)]
    fn id(&self) -> &[u8] {
        match self {
            Self::Short { length, id, .. } => &id[..SHORT.min(usize::from(*length))],
            Self::Long { id, .. } => id.as_bytes(),
        }
    }
}

/// A [`Key`] that borrows its id.
struct Name<'a> {
    space: Space,
    id: &'a [u8],
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Name { space: self.space(), id: self.id() }.hash(state);
    }
}

impl Hash for Name<'_> {
    #[inline(always)]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.id);
        state.write_u64(u64::from(self.space.0));
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.space() == other.space() && self.id() == other.id()
    }
}

impl Eq for Key {}

impl Equivalent<Key> for Name<'_> {
    #[inline(always)]
    fn equivalent(&self, key: &Key) -> bool {
        self.space == key.space() && self.id == key.id()
    }
}

#[derive(Clone)]
struct Weight;

impl<T: Weigh> Weighter<Key, T> for Weight {
    fn weight(&self, key: &Key, value: &T) -> u64 {
        OVERHEAD + key.id().len() as u64 + value.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Number(usize);

    impl Weigh for Number {
        fn bytes(&self) -> u64 {
            8
        }
    }

    #[test]
    fn ids_of_every_length_are_kept_apart() {
        let (slots, spaces) = (Slots::new(1 << 20), [Space(0), Space(1)]);
        let ids: Vec<String> =
            (0..2 * SHORT).flat_map(|length| ["\0", "x"].map(|c| c.repeat(length))).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).skip(1).collect();
        for (number, id) in ids.iter().enumerate() {
            slots.insert(spaces[0], id, Number(number));
        }

        for (number, id) in ids.iter().enumerate() {
            assert_eq!(slots.get(spaces[0], id), Some(Number(number)), "{id:?}");
            assert_eq!(slots.get(spaces[1], id), None, "{id:?}");
        }
    }
}
