//! The epochs of all spaces of a `Forebay`, which move together when something was missed, and how many tags they
//! know of in all.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use super::{fence::Epoch, numbers::Numbers, options::Coherence};
use crate::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

/// How many tags the spaces know the numbers of, together. What is not known is asked for.
const MOST_TAGS: usize = 100_000;

/// What is heard, as far as the spaces of one `Forebay` are concerned.
pub(crate) struct Epochs {
    state: Mutex<State>,
    tags: AtomicUsize,
}

struct State {
    hearing: bool,
    /// Whether all writes are told of.
    told: bool,
    spaces: Vec<(Coherence, Weak<Numbers>)>,
}

impl Epochs {
    /// Of a process that hears, or does not hear yet.
    pub(crate) fn new(hearing: bool) -> Arc<Self> {
        let state = Mutex::new(State { hearing, told: hearing, spaces: Vec::new() });
        Arc::new(Self { state, tags: AtomicUsize::new(0) })
    }

    /// Takes a new space in.
    pub(crate) fn open(self: &Arc<Self>, coherence: Coherence) -> Arc<Numbers> {
        let mut state = self.state.lock();
        let (memory, heard) = (state.believes(coherence), state.hearing);
        let numbers = Arc::new(Numbers::new(Epoch::new(memory), Epoch::new(heard), self.clone()));
        state.spaces.retain(|(_, space)| space.strong_count() > 0);
        state.spaces.push((coherence, Arc::downgrade(&numbers)));
        numbers
    }

    /// Something was missed: makes all that is stored by now suspect, in every space.
    pub(crate) fn missed(&self) {
        self.state.lock().each(|coherence, numbers| {
            numbers.heard.missed();
            if coherence != Coherence::TtlOnly {
                numbers.epoch.missed();
            }
        });
    }

    /// Nothing is heard from now on, or everything is.
    pub(crate) fn set_hearing(&self, hearing: bool) {
        let mut state = self.state.lock();
        state.hearing = hearing;
        state.each(|_, numbers| numbers.heard.set_hearing(hearing));
        state.turn();
    }

    /// All writes are told of from now on, or some may not be.
    pub(crate) fn set_told(&self, told: bool) {
        let mut state = self.state.lock();
        state.told = told;
        state.turn();
    }

    /// Sees to it that one more tag has room: all others make place where there is none.
    pub(super) fn make_room(&self) {
        if self.tags.load(SeqCst) >= MOST_TAGS {
            self.state.lock().each(|_, numbers| numbers.forget_tags());
        }
    }

    pub(super) fn count_tags(&self, more: usize, less: usize) {
        self.tags.fetch_add(more, SeqCst);
        self.tags.fetch_sub(less, SeqCst);
    }
}

impl State {
    /// Whether what enters process memory now may be believed.
    fn believes(&self, coherence: Coherence) -> bool {
        match coherence {
            Coherence::Bus => self.hearing,
            Coherence::Tracking => self.hearing && self.told,
            Coherence::TtlOnly => true,
        }
    }

    fn turn(&self) {
        self.each(|coherence, numbers| numbers.epoch.set_hearing(self.believes(coherence)));
    }

    fn each(&self, act: impl Fn(Coherence, &Numbers)) {
        let present =
            self.spaces.iter().filter_map(|(coherence, space)| Some((*coherence, space.upgrade()?)));
        present.for_each(|(coherence, numbers)| act(coherence, &numbers));
    }
}

impl fmt::Debug for Epochs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epochs").field("tags", &self.tags.load(SeqCst)).finish_non_exhaustive()
    }
}
