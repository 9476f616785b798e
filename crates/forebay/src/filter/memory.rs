//! The store of one process: complete from the first rebuild on, for as long as the process lives.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use fastbloom::AtomicBloomFilter;
use futures::FutureExt;

use super::{
    answer::Figures,
    backend::{Backend, Beginning, Seen, Step, Told},
    mark::Mark,
    shape::Shape,
};
use crate::{key::Name, redis::Redis, sync::Mutex, token::Token};

/// The filters of a `Forebay` by name.
#[derive(Debug, Default)]
pub(super) struct Filters(Mutex<HashMap<Name, Arc<RwLock<State>>>>);

impl Filters {
    pub(super) fn filter(&self, name: &Name) -> Arc<RwLock<State>> {
        self.0.lock().entry(name.clone()).or_default().clone()
    }
}

/// The bits in use, and those to come.
#[derive(Debug, Default)]
pub(super) struct State {
    current: Option<Bits>,
    next: Option<(Token, Bits)>,
}

#[derive(Debug)]
struct Bits {
    shape: Shape,
    bloom: AtomicBloomFilter,
}

impl Bits {
    fn new(shape: Shape) -> Self {
        let bits = usize::try_from(shape.bits).unwrap_or(usize::MAX);
        // Its own hasher is not used: ids come hashed.
        Self { shape, bloom: AtomicBloomFilter::with_num_bits(bits).seed(&0).hashes(shape.hashes) }
    }

    fn add(&self, marks: &[Mark]) {
        for mark in marks {
            self.bloom.insert_hash(mark.number());
        }
    }

    fn sees(&self, mark: Mark) -> Seen {
        if self.bloom.contains_hash(mark.number()) { Seen::Maybe } else { Seen::No }
    }

    fn figures(&self) -> Figures {
        let words = self.bloom.as_slice();
        let set: u64 = self.bloom.iter().map(|word| u64::from(word.count_ones())).sum();
        let share = set as f64 / (64 * words.len()) as f64;
        Figures::of(self.shape, share)
    }
}

/// One filter in this process.
#[derive(Debug)]
pub(super) struct MemoryBackend {
    pub(super) state: Arc<RwLock<State>>,
    /// What a refused rebuild is told.
    pub(super) lease: Duration,
}

impl MemoryBackend {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, token: Token, shape: Shape) -> Beginning {
        if self.read().next.is_some() {
            return Beginning::Running(self.lease);
        }
        // Made before the lock is taken: it may be large.
        let bits = Bits::new(shape);
        let next = &mut self.write().next;
        if next.is_some() {
            return Beginning::Running(self.lease);
        }
        *next = Some((token, bits));
        Beginning::Begun
    }

    fn step(&self, token: Token, step: Step<'_>) -> bool {
        let is_ours = |state: &State| state.next.as_ref().is_some_and(|(holder, _)| *holder == token);
        match step {
            Step::Hold => is_ours(&self.read()),
            Step::Add(marks) => {
                let state = self.read();
                let ours = state.next.as_ref().filter(|(holder, _)| *holder == token);
                ours.map(|(_, bits)| bits.add(marks)).is_some()
            }
            Step::Switch => {
                let mut state = self.write();
                let ours = state.next.take_if(|(holder, _)| *holder == token);
                let done = ours.is_some();
                if let Some((_, bits)) = ours {
                    state.current = Some(bits);
                }
                done
            }
        }
    }
}

impl Backend for MemoryBackend {
    fn redis(&self) -> Option<&Redis> {
        None
    }

    fn check<'a>(&'a self, marks: &'a [Mark]) -> Told<'a, Vec<Seen>> {
        async move {
            let state = self.read();
            let sees = |mark: &Mark| state.current.as_ref().map_or(Seen::Incomplete, |bits| bits.sees(*mark));
            Ok(marks.iter().map(sees).collect())
        }
        .boxed()
    }

    fn add<'a>(&'a self, marks: &'a [Mark]) -> Told<'a, ()> {
        async move {
            let state = self.read();
            let next = state.next.as_ref().map(|(_, bits)| bits);
            state.current.iter().chain(next).for_each(|bits| bits.add(marks));
            Ok(())
        }
        .boxed()
    }

    fn look(&self) -> Told<'_, Figures> {
        async move {
            let state = self.read();
            let figures = state.current.as_ref().map_or_else(Figures::none, Bits::figures);
            Ok(Figures { rebuilding: state.next.is_some(), ..figures })
        }
        .boxed()
    }

    fn begin(&self, token: Token, shape: Shape) -> Told<'_, Beginning> {
        async move { Ok(self.begin(token, shape)) }.boxed()
    }

    fn step<'a>(&'a self, token: Token, step: Step<'a>) -> Told<'a, bool> {
        async move { Ok(self.step(token, step)) }.boxed()
    }

    fn abandon(&self, token: Token) {
        self.write().next.take_if(|(holder, _)| *holder == token);
    }
}
