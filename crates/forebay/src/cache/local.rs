//! Process memory: values, the memory store's entries and running loads, under one budget.

use std::{
    any::Any,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use bytes::Bytes;
use equivalent::Equivalent;
use quick_cache::{
    OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use crate::{
    clock::{Clock, Moment},
    hash::Seed,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

/// What an entry weighs besides its value and its key.
pub(crate) const OVERHEAD: u64 = 200;

/// What the key and the header of an entry weigh at most, in all but odd cases.
const LARGEST_FRAME: u64 = 1 << 10;

/// A shard smaller than this would refuse values that the budget has room for.
const SMALLEST_SHARD: u64 = 4 << 20;

/// Only sizes the tables that the cache begins with.
const TYPICAL_ENTRY: u64 = 1 << 10;

/// The budget is lowered in this many steps for what runs, not for every load.
const STEPS: u64 = 64;

/// The process memory of one `Forebay`.
pub(crate) struct Memory {
    slots: Cache<Key, Slot, Weigh, Seed>,
    spaces: AtomicU32,
    budget: u64,
    /// What running loads are expected to bring; the slots have the rest of the budget.
    reserved: Mutex<u64>,
}

/// A value in process memory, and for how long it may be used.
#[derive(Clone)]
pub(crate) struct Local {
    /// An `Arc<V>` of the space's type; `None` remembers an absence.
    pub(crate) value: Option<Arc<dyn Any + Send + Sync>>,
    /// When it is no longer used: the end of its local life or of its fresh life, whichever comes first.
    pub(crate) until: Moment,
    pub(crate) meta: Meta,
    pub(crate) epoch: u64,
    pub(crate) weight: u32,
}

/// What is told of an entry besides its value.
#[derive(Debug, Clone)]
pub(crate) struct Meta {
    pub(crate) id: u64,
    pub(crate) born: Moment,
    pub(crate) fresh_until: Moment,
    pub(crate) validator: Option<Arc<str>>,
}

impl Memory {
    pub(crate) fn new(budget: u64) -> Self {
        let mut options = OptionsBuilder::new();
        options.weight_capacity(budget).estimated_items_capacity(
            usize::try_from(budget / TYPICAL_ENTRY).unwrap_or(usize::MAX).clamp(64, 1 << 20),
        );
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let roomy = usize::try_from(budget / SMALLEST_SHARD).unwrap_or(usize::MAX).max(1);
        options.shards(roomy.min(cores * 4));
        let options = options.build().expect("capacity and estimate are both set");
        Self {
            slots: Cache::with_options(options, Weigh, Seed::default(), DefaultLifecycle::default()),
            spaces: AtomicU32::new(0),
            budget,
            reserved: Mutex::new(0),
        }
    }

    /// The most that one entry can weigh.
    pub(crate) fn largest(&self) -> u64 {
        self.slots.shard_capacity()
    }

    /// The most bytes of one value that are sure to find room, whatever its key and its header weigh.
    pub(crate) fn largest_value(&self) -> u64 {
        self.largest().saturating_sub(LARGEST_FRAME)
    }

    /// A number for a new space.
    pub(crate) fn space(&self) -> Space {
        Space(self.spaces.fetch_add(1, Relaxed))
    }

    /// The value of `id`, used or not. Takes a read lock; allocates nothing.
    #[inline]
    pub(crate) fn get(&self, space: Space, id: &str) -> Option<Local> {
        match self.slots.get(&Name { space, shelf: Shelf::Local, id })? {
            Slot::Local(local) => Some(local),
            Slot::Stored { .. } => None,
        }
    }

    pub(crate) fn insert(&self, space: Space, id: &str, local: Local) {
        self.slots.insert(Key { space, shelf: Shelf::Local, id: id.into() }, Slot::Local(local));
    }

    pub(crate) fn remove(&self, space: Space, id: &str) {
        self.slots.remove(&Name { space, shelf: Shelf::Local, id });
    }

    /// What the memory store holds for `id`, with the end of its life.
    pub(crate) fn stored(&self, space: Space, id: &str) -> Option<(Bytes, Moment)> {
        match self.slots.get(&Name { space, shelf: Shelf::Stored, id })? {
            Slot::Stored { bytes, until } => Some((bytes, until)),
            Slot::Local(_) => None,
        }
    }

    pub(crate) fn store(&self, space: Space, id: &str, bytes: Bytes, until: Moment) {
        self.slots.insert(Key { space, shelf: Shelf::Stored, id: id.into() }, Slot::Stored { bytes, until });
    }

    pub(crate) fn discard(&self, space: Space, id: &str) {
        self.slots.remove(&Name { space, shelf: Shelf::Stored, id });
    }

    /// Counts a running load against the budget until the reservation is dropped. Together they take at most
    /// half of it.
    pub(crate) fn reserve(self: &Arc<Self>, weight: u64) -> Reservation {
        let mut reserved = self.reserved.lock();
        let weight = weight.min((self.budget / 2).saturating_sub(*reserved));
        self.set_reserved(&mut reserved, |now| now + weight);
        Reservation { memory: self.clone(), weight }
    }

    fn set_reserved(&self, reserved: &mut u64, change: impl FnOnce(u64) -> u64) {
        let step = self.budget / STEPS;
        let before = reserved.div_ceil(step);
        *reserved = change(*reserved);
        let after = reserved.div_ceil(step);
        if before != after {
            self.slots.set_capacity(self.budget - after * step);
        }
    }

    /// Removes what nobody may use any more.
    pub(crate) fn sweep(&self, clock: &Clock) {
        let now = clock.now();
        self.slots.retain(|_, slot| match slot {
            Slot::Local(local) => local.until > now,
            Slot::Stored { until, .. } => *until > now,
        });
    }

    /// How much of the budget is used, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        let reserved = self.reserved.lock();
        self.slots.weight() + *reserved
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("weight", &self.weight()).finish_non_exhaustive()
    }
}

/// The number of one space in one process memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space(u32);

/// A running load's share of the budget.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<Memory>,
    weight: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.set_reserved(&mut self.memory.reserved.lock(), |now| now - self.weight);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shelf {
    Local,
    Stored,
}

struct Key {
    space: Space,
    shelf: Shelf,
    id: Box<str>,
}

/// A [`Key`] that borrows its id.
struct Name<'a> {
    space: Space,
    shelf: Shelf,
    id: &'a str,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Name { space: self.space, shelf: self.shelf, id: &self.id }.hash(state);
    }
}

impl Hash for Name<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.id.as_bytes());
        state.write_u64(u64::from(self.space.0) << 1 | self.shelf as u64);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.space == other.space && self.shelf == other.shelf && self.id == other.id
    }
}

impl Eq for Key {}

impl Equivalent<Key> for Name<'_> {
    #[inline]
    fn equivalent(&self, key: &Key) -> bool {
        self.id == &*key.id && self.space == key.space && self.shelf == key.shelf
    }
}

#[derive(Clone)]
enum Slot {
    Local(Local),
    Stored { bytes: Bytes, until: Moment },
}

#[derive(Clone)]
struct Weigh;

impl Weighter<Key, Slot> for Weigh {
    fn weight(&self, key: &Key, slot: &Slot) -> u64 {
        let value = match slot {
            Slot::Local(local) => u64::from(local.weight),
            Slot::Stored { bytes, .. } => bytes.len() as u64,
        };
        OVERHEAD + key.id.len() as u64 + value
    }
}
