//! Process memory: values, the memory store's entries and running loads, under one budget.

use std::{
    any::Any,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use bytes::Bytes;
use equivalent::Equivalent;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter, sync::Cache};

use super::waits::FlightId;
use crate::{
    clock::{Clock, Moment},
    hash::Seed,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// What an entry weighs besides its value and its key.
pub(crate) const OVERHEAD: u64 = 200;

/// A shard smaller than this would refuse values that the budget has room for.
const SMALLEST_SHARD: u64 = 4 << 20;

/// Only sizes the tables that the cache begins with.
const TYPICAL_ENTRY: u64 = 1 << 10;

/// The process memory of one `Forebay`.
pub(crate) struct Memory {
    slots: Cache<Key, Slot, Weigh, Seed, PinLoads>,
    spaces: AtomicU32,
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
            slots: Cache::with_options(options, Weigh, Seed::default(), PinLoads),
            spaces: AtomicU32::new(0),
        }
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
            Slot::Stored { .. } | Slot::Load(_) => None,
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
            Slot::Local(_) | Slot::Load(_) => None,
        }
    }

    pub(crate) fn store(&self, space: Space, id: &str, bytes: Bytes, until: Moment) {
        self.slots.insert(Key { space, shelf: Shelf::Stored, id: id.into() }, Slot::Stored { bytes, until });
    }

    pub(crate) fn discard(&self, space: Space, id: &str) {
        self.slots.remove(&Name { space, shelf: Shelf::Stored, id });
    }

    /// Counts a running load against the budget until the reservation is dropped.
    pub(crate) fn reserve(self: &Arc<Self>, space: Space, flight: FlightId, weight: u64) -> Reservation {
        let id: Box<str> = flight.to_string().into();
        self.slots.insert(Key { space, shelf: Shelf::Load, id: id.clone() }, Slot::Load(weight));
        Reservation { memory: self.clone(), space, id }
    }

    /// Removes what nobody may use any more.
    pub(crate) fn sweep(&self, clock: &Clock) {
        let now = clock.now();
        self.slots.retain(|_, slot| match slot {
            Slot::Local(local) => local.until > now,
            Slot::Stored { until, .. } => *until > now,
            Slot::Load(_) => true,
        });
    }

    /// How much of the budget is used, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        self.slots.weight()
    }

    /// How many values, stored entries and running loads there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("weight", &self.weight()).field("len", &self.len()).finish()
    }
}

/// The number of one space in one process memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space(u32);

/// A running load's share of the budget.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<Memory>,
    space: Space,
    id: Box<str>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.slots.remove(&Name { space: self.space, shelf: Shelf::Load, id: &self.id });
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shelf {
    Local,
    Stored,
    Load,
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
        state.write_u64(u64::from(self.space.0) << 2 | self.shelf as u64);
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
    Load(u64),
}

#[derive(Clone)]
struct Weigh;

impl Weighter<Key, Slot> for Weigh {
    fn weight(&self, key: &Key, slot: &Slot) -> u64 {
        let value = match slot {
            Slot::Local(local) => u64::from(local.weight),
            Slot::Stored { bytes, .. } => bytes.len() as u64,
            Slot::Load(weight) => *weight,
        };
        OVERHEAD + key.id.len() as u64 + value
    }
}

/// What runs cannot be evicted.
#[derive(Clone)]
struct PinLoads;

impl Lifecycle<Key, Slot> for PinLoads {
    type RequestState = ();

    fn is_pinned(&self, _: &Key, slot: &Slot) -> bool {
        matches!(slot, Slot::Load(_))
    }
}
