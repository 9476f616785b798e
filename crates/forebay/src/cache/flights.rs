//! The flights of one space by id: who leads, who joins, and what overtakes them.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    hash::BuildHasher,
    sync::Arc,
};

use super::{
    fence::{Epoch, Fence},
    flight::Flight,
    verdict::Seat,
};
use crate::{
    hash::Seed,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    tasks::Tasks,
};

const SHARDS: usize = 32;

/// A point in the one order of a space, in which callers arrive and reads and loads begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival(u64);

/// The flights of one space.
pub(crate) struct Flights<V> {
    arrivals: AtomicU64,
    hasher: Seed,
    shards: [Shard<V>; SHARDS],
}

type Shard<V> = Mutex<HashMap<Arc<str>, Slot<V>, Seed>>;

/// What is under way for one id.
struct Slot<V> {
    flight: Option<Arc<Flight<V>>>,
    refresh: Option<Arc<Flight<V>>>,
    fences: Vec<Arc<Fence>>,
}

/// A caller's part in a flight.
pub(crate) enum Boarding<V> {
    /// It has begun the flight, and runs it.
    Lead(Arc<Flight<V>>),
    /// It waits for what the flight brings.
    Join(Arc<Flight<V>>),
}

impl<V> Flights<V> {
    pub(crate) fn new() -> Self {
        let hasher = Seed::default();
        Self {
            arrivals: AtomicU64::new(0),
            hasher,
            shards: std::array::from_fn(|_| Mutex::new(HashMap::with_hasher(hasher))),
        }
    }

    /// Marks the arrival of a caller.
    pub(crate) fn arrive(&self) -> Arrival {
        Arrival(self.arrivals.load(SeqCst))
    }

    /// Marks that a read is about to be sent, or a load to begin: later than every arrival so far.
    pub(crate) fn depart(&self) -> Arrival {
        Arrival(self.arrivals.fetch_add(1, SeqCst) + 1)
    }

    /// Takes a seat in the flight of `id`, or begins the flight that `begin` makes.
    pub(crate) fn board(&self, id: &Arc<str>, seat: Seat, begin: impl FnOnce() -> Flight<V>) -> Boarding<V> {
        self.with(id, |slot| {
            // A `.fresh()` caller may join the refresh; any other finds the stale value.
            let refresh = slot.refresh.as_ref().filter(|_| seat.fresh);
            if let Some(flight) = slot.flight.as_ref().or(refresh)
                && flight.board(seat.takes_lease)
            {
                return Boarding::Join(flight.clone());
            }
            let flight = Arc::new(begin());
            flight.board(seat.takes_lease);
            slot.flight = Some(flight.clone());
            Boarding::Lead(flight)
        })
    }

    /// Whether something is under way for `id`.
    pub(crate) fn has(&self, id: &str) -> bool {
        let shard = self.shard(id).lock();
        shard.get(id).is_some_and(|slot| slot.flight.is_some() || slot.refresh.is_some())
    }

    /// Begins the one refresh of `id`; `None` when one is under way.
    pub(crate) fn refresh(&self, id: &Arc<str>, begin: impl FnOnce() -> Flight<V>) -> Option<Arc<Flight<V>>> {
        self.with(id, |slot| match slot.refresh {
            Some(_) => None,
            None => Some(slot.refresh.insert(Arc::new(begin())).clone()),
        })
    }

    /// Takes `flight` out, so that the next caller begins another.
    pub(crate) fn end(&self, id: &str, flight: &Arc<Flight<V>>) {
        let mut shard = self.shard(id).lock();
        if let Some(slot) = shard.get_mut(id) {
            slot.flight.take_if(|held| Arc::ptr_eq(held, flight));
            slot.refresh.take_if(|held| Arc::ptr_eq(held, flight));
            if slot.is_empty() {
                shard.remove(id);
            }
        }
    }

    /// Overtakes everything under way for `id`: none of it may enter process memory or serve later callers.
    pub(crate) fn detach(&self, id: &str, tasks: &Tasks) {
        let Some(slot) = self.shard(id).lock().remove(id) else { return };
        for flight in slot.flight.iter().chain(&slot.refresh) {
            flight.detach();
            // A shutdown would not find it here any more.
            flight.helm.take_over(tasks);
        }
        for fence in &slot.fences {
            fence.cut();
        }
    }

    /// Keeps all that is under way for `id` out of process memory. It goes on for those who wait for it.
    pub(crate) fn cut(&self, id: &str) {
        if let Some(slot) = self.shard(id).lock().get(id) {
            let flights = slot.flight.iter().chain(&slot.refresh);
            flights.for_each(|flight| flight.fence.cut());
            slot.fences.iter().for_each(|fence| fence.cut());
        }
    }

    /// The ids that `wants` takes, of those for which something is under way.
    pub(crate) fn ids(&self, wants: impl Fn(&str) -> bool) -> Vec<Box<str>> {
        let mut ids = Vec::new();
        for shard in &self.shards {
            ids.extend(shard.lock().keys().filter(|id| wants(id)).map(|id| Box::from(&**id)));
        }
        ids
    }

    /// Raises a fence for a value of `id` that comes outside a flight.
    pub(crate) fn fence(&self, id: &Arc<str>, epoch: &Epoch) -> FenceSeat<'_, V> {
        let fence = Arc::new(Fence::raise(epoch));
        self.with(id, |slot| slot.fences.push(fence.clone()));
        FenceSeat { flights: self, id: id.clone(), fence }
    }

    /// Has tasks fly what callers fly by themselves.
    pub(crate) fn take_over(&self, tasks: &Tasks) {
        let of = |shard: &Shard<V>| -> Vec<_> {
            shard.lock().values().filter_map(|slot| slot.flight.clone()).collect()
        };
        // One that cannot be started ends at once, and takes itself out of its shard.
        self.shards.iter().flat_map(of).for_each(|flight| flight.helm.take_over(tasks));
    }

    /// Whether nothing is under way.
    #[cfg(all(test, not(forebay_shuttle)))]
    pub(crate) fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.lock().is_empty())
    }

    /// One step on the slot of `id`, which exists only while something is in it.
    fn with<R>(&self, id: &Arc<str>, step: impl FnOnce(&mut Slot<V>) -> R) -> R {
        match self.shard(id).lock().entry(id.clone()) {
            Entry::Occupied(mut held) => {
                let answer = step(held.get_mut());
                if held.get().is_empty() {
                    held.remove();
                }
                answer
            }
            Entry::Vacant(place) => {
                let mut slot = Slot::new();
                let answer = step(&mut slot);
                if !slot.is_empty() {
                    place.insert(slot);
                }
                answer
            }
        }
    }

    fn shard(&self, id: &str) -> &Shard<V> {
        let hash = self.hasher.hash_one(id);
        &self.shards[usize::try_from(hash >> 59).unwrap_or(0) % SHARDS]
    }
}

impl<V> Slot<V> {
    fn new() -> Self {
        Self { flight: None, refresh: None, fences: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.flight.is_none() && self.refresh.is_none() && self.fences.is_empty()
    }
}

impl<V> fmt::Debug for Flights<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").finish_non_exhaustive()
    }
}

/// A fence in its place among the flights, until it is dropped.
pub(crate) struct FenceSeat<'a, V> {
    flights: &'a Flights<V>,
    id: Arc<str>,
    pub(crate) fence: Arc<Fence>,
}

impl<V> Drop for FenceSeat<'_, V> {
    fn drop(&mut self) {
        self.flights.with(&self.id, |slot| {
            slot.fences.retain(|held| !Arc::ptr_eq(held, &self.fence));
        });
    }
}
