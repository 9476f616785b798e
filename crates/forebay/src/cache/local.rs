//! Process memory: values as they are handed out, the memory store's entries, and room for running loads,
//! under one budget.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    numbers::{Stamp, Tags},
    slots::{Slots, Space, Weigh},
};
use crate::{
    clock::{Clock, Moment},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

/// What the key and the header of an entry weigh at most, in all but odd cases.
const LARGEST_FRAME: u64 = 1 << 10;

/// The budget is lowered in this many steps for what runs, not for every load.
const STEPS: u64 = 64;

/// Where the store is, and so what process memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    /// In this process: written entries take as much room as the same values.
    Inside,
    /// Elsewhere: what is written here is only what look-ups fill in while it cannot be asked, and values are
    /// kept for that time past their local life.
    Outside,
}

impl Store {
    /// The share of the budget that written entries have, as a divisor.
    fn share(self) -> u64 {
        match self {
            Self::Inside => 2,
            Self::Outside => 16,
        }
    }
}

/// The process memory of one `Forebay`: one part of its budget for values, the other for written entries.
pub(crate) struct Memory {
    store: Store,
    values: Slots<Local>,
    stored: Slots<Stored>,
    spaces: AtomicU32,
    budget: u64,
    /// What running loads are expected to bring; the slots have the rest of the budget.
    reserved: Mutex<u64>,
}

/// No epoch, as those of what is stored are even.
pub(crate) const TAGGED: u32 = u32::MAX;

/// A value in process memory, and for how long it may be used: as little as a hit needs, since a hit costs what
/// it touches.
#[derive(Debug)]
pub(crate) struct Local {
    /// An `Arc<V>` of the space's type; `None` remembers an absence.
    pub(crate) value: Option<Arc<dyn Any + Send + Sync>>,
    /// Until when a hit need not look further: [`Meta::used_until`], or earlier where a refresh may be due by then.
    pub(crate) until: Moment,
    /// The epoch of the space in which it may be used; [`TAGGED`] for a value with tags, which [`Meta`] tells more of.
    pub(crate) epoch: u32,
    pub(crate) bytes: u32,
    /// Stays behind when a hit takes its copy; [`Memory::tell`] reads it in its place.
    pub(crate) meta: Option<Box<Meta>>,
}

/// What is told of a value besides itself.
#[derive(Debug, Clone)]
pub(crate) struct Meta {
    pub(crate) id: u64,
    pub(crate) born: Moment,
    pub(crate) fresh_until: Moment,
    /// When it is no longer used: the end of its local life or of its fresh life, whichever comes first.
    pub(crate) used_until: Moment,
    /// The end of its life as an entry, beyond which no outage keeps it in use.
    pub(crate) kept_until: Moment,
    pub(crate) epoch: u32,
    /// In microseconds, at most 71 minutes.
    pub(crate) load_time: u32,
    /// That of the [`Stamp`].
    pub(crate) number: u64,
    pub(crate) more: Option<Arc<More>>,
}

/// Every value has one beside it: what only few need is behind one pointer.
const _: () = assert!(size_of::<Meta>() <= 64);

/// What few values have.
#[derive(Debug)]
pub(crate) struct More {
    validator: Option<Arc<str>>,
    tags: Tags,
}

impl More {
    pub(crate) fn of(validator: Option<Arc<str>>, tags: &Tags) -> Option<Arc<Self>> {
        let is_nothing = validator.is_none() && tags.is_empty();
        (!is_nothing).then(|| Arc::new(Self { validator, tags: tags.clone() }))
    }
}

impl Meta {
    pub(crate) fn load_time(&self) -> Duration {
        Duration::from_micros(self.load_time.into())
    }

    pub(crate) fn validator(&self) -> Option<Arc<str>> {
        self.more.as_ref()?.validator.clone()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        let tags = self.more.as_ref().map(|more| more.tags.clone()).unwrap_or_default();
        Stamp { number: self.number, tags }
    }
}

impl Local {
    /// Ends the fresh life. Whether there is a stale one.
    fn age(&mut self, now: Moment) -> bool {
        self.until = Moment::default();
        let Some(meta) = &mut self.meta else { return false };
        meta.used_until = Moment::default();
        let stale_life = meta.kept_until.since(meta.fresh_until);
        meta.fresh_until = meta.fresh_until.min(now);
        meta.kept_until = meta.kept_until.min(now.after(stale_life));
        !stale_life.is_zero()
    }

    /// Lets hits of `entry` look no further before `until`.
    fn postpone(&mut self, entry: u64, until: Moment) {
        if let Some(meta) = self.meta.as_ref().filter(|meta| meta.id == entry) {
            self.until = until.min(meta.used_until);
        }
    }

    fn used_until(&self) -> Moment {
        self.meta.as_ref().map_or(self.until, |meta| meta.used_until)
    }

    fn kept_until(&self) -> Moment {
        self.meta.as_ref().map_or(self.until, |meta| meta.kept_until)
    }
}

impl Clone for Local {
    #[inline]
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), meta: None, ..*self }
    }
}

/// An entry of the memory store, with the end of its life.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) bytes: Bytes,
    pub(crate) until: Moment,
}

impl Weigh for Local {
    fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }
}

impl Weigh for Stored {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl Memory {
    pub(crate) fn new(budget: u64, store: Store) -> Self {
        let written = budget / store.share();
        Self {
            store,
            values: Slots::new(budget - written),
            stored: Slots::new(written),
            spaces: AtomicU32::new(0),
            budget,
            reserved: Mutex::new(0),
        }
    }

    /// A number for a new space.
    pub(crate) fn space(&self) -> Space {
        Space(self.spaces.fetch_add(1, Relaxed))
    }

    /// The value of `id`, used or not. Takes a read lock; allocates nothing.
    #[inline(always)]
    pub(crate) fn get(&self, space: Space, id: &str) -> Option<Local> {
        self.values.get(space, id)
    }

    /// The value of `id` with its [`Meta`], both of one entry.
    pub(crate) fn tell(&self, space: Space, id: &str) -> Option<(Local, Meta)> {
        self.values.look(space, id, |local| Some((local.clone(), local.meta.as_deref()?.clone())))?
    }

    pub(crate) fn insert(&self, space: Space, id: &str, local: Local) {
        self.values.insert(space, id, local);
    }

    pub(crate) fn remove(&self, space: Space, id: &str) {
        self.values.remove(space, id);
    }

    /// Leaves the value of `id` its stale life only, for while the store cannot be asked.
    pub(crate) fn age(&self, space: Space, id: &str, now: Moment) {
        match self.store {
            Store::Inside => self.remove(space, id),
            Store::Outside => self.values.keep_if(space, id, |local| local.age(now)),
        }
    }

    /// Lets hits look no further before `until`, if the value of `id` still is that of `entry`.
    pub(crate) fn postpone(&self, space: Space, id: &str, entry: u64, until: Moment) {
        self.values.keep_if(space, id, |local| {
            local.postpone(entry, until);
            true
        });
    }

    /// What the memory store holds for `id`, ended or not.
    pub(crate) fn stored(&self, space: Space, id: &str) -> Option<Stored> {
        self.stored.get(space, id)
    }

    pub(crate) fn store(&self, space: Space, id: &str, stored: Stored) {
        self.stored.insert(space, id, stored);
    }

    pub(crate) fn discard(&self, space: Space, id: &str) {
        self.stored.remove(space, id);
    }

    /// The ids of the values of a space that `wants` takes.
    pub(crate) fn ids(&self, space: Space, wants: impl Fn(&str) -> bool) -> Vec<Box<str>> {
        self.values.ids(space, wants)
    }

    /// The ids of the memory store likewise, ended or not.
    pub(crate) fn stored_ids(&self, space: Space, wants: impl Fn(&str) -> bool) -> Vec<Box<str>> {
        self.stored.ids(space, wants)
    }

    /// Removes all written entries.
    pub(crate) fn clear_stored(&self) {
        self.stored.retain(|_| false);
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
            let budget = self.budget - after * step;
            let written = budget / self.store.share();
            self.values.set_capacity(budget - written);
            self.stored.set_capacity(written);
        }
    }

    /// Removes what nobody may use any more.
    pub(crate) fn sweep(&self, clock: &Clock) {
        let now = clock.now();
        match self.store {
            Store::Inside => self.values.retain(|local| local.used_until() > now),
            Store::Outside => self.values.retain(|local| local.kept_until() > now),
        }
        self.stored.retain(|stored| stored.until > now);
    }

    /// How much of the budget is used, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        let reserved = self.reserved.lock();
        self.values.weight() + self.stored.weight() + *reserved
    }

    /// How many values and written entries there are.
    pub(crate) fn entries(&self) -> u64 {
        self.values.entries() + self.stored.entries()
    }

    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// The most that one value can weigh.
    pub(crate) fn largest(&self) -> u64 {
        self.values.largest()
    }

    /// The most bytes of one value that are sure to find room, whatever its key and its header weigh.
    pub(crate) fn largest_value(&self) -> u64 {
        self.largest().saturating_sub(LARGEST_FRAME)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("weight", &self.weight()).finish_non_exhaustive()
    }
}

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
