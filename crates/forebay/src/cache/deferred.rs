//! Changes that the store has not confirmed: kept until it has, and until then in the way of every use of
//! their ids.

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::Arc,
    time::Duration,
};

use futures::stream::{self, StreamExt};
use tokio::sync::Notify;

use super::{
    backend::{Answer, Backend, Change, Unavailable},
    slots::Space,
};
use crate::{
    clock::{Clock, Moment},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// How many changes wait; beyond, their whole space does.
const MOST: usize = 10_000;

/// How long a confirmed change is remembered, in case that the server turns out to be another one which lacks it;
/// at most [`MOST`] of them.
const REMEMBERED: Duration = Duration::from_secs(60);

const AT_A_TIME: usize = 64;

/// How many changes are taken up at a time: readers wait for as long as it takes to copy them.
const BATCH: usize = 512;

/// The pause after a replay that failed.
const PAUSE: Duration = Duration::from_millis(100);

/// A store that is not always within reach.
pub(crate) trait Distant: Backend + fmt::Debug {
    /// The space that it stores.
    fn space(&self) -> Space;

    /// Invalidates every entry of the space.
    fn sweep(&self) -> Answer<'_, ()>;
}

/// The changes of one `Forebay` that are not confirmed, and those confirmed lately.
pub(crate) struct Deferred {
    clock: Clock,
    state: Mutex<State>,
    /// How many ids and spaces wait: zero spares the readers the lock.
    waiting: AtomicUsize,
    /// How often the server has become another one.
    servers: AtomicUsize,
    bell: Notify,
}

#[derive(Default)]
struct State {
    ids: HashMap<(Space, Box<str>), Waiting>,
    spaces: HashMap<Space, Waiting>,
    confirmed: VecDeque<(Moment, Arc<dyn Distant>, Box<str>)>,
    numbers: u64,
    /// Where the next attempt begins.
    turn: usize,
}

#[derive(Clone)]
struct Waiting {
    store: Arc<dyn Distant>,
    change: Change,
    since: Moment,
    number: u64,
}

impl Deferred {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            state: Mutex::default(),
            waiting: AtomicUsize::new(0),
            servers: AtomicUsize::new(0),
            bell: Notify::new(),
        }
    }

    /// Whether a change of `id` waits, so that what the store has for it is not to be used.
    pub(super) fn holds(&self, space: Space, id: &str) -> bool {
        if self.waiting.load(SeqCst) == 0 {
            return false;
        }
        let state = self.state.lock();
        state.spaces.contains_key(&space) || state.ids.contains_key(&(space, id.into()))
    }

    /// The number of the server that is asked now. An answer that came from a later one may lack a change that
    /// was not yet to be waited for when it was asked.
    pub(super) fn server(&self) -> usize {
        self.servers.load(SeqCst)
    }

    /// Keeps a change until the store confirms it. What invalidates stays in the place of what only expires.
    pub(super) fn keep(&self, store: &Arc<dyn Distant>, id: &str, change: &Change) {
        let since = self.clock.now();
        self.update(|state| state.keep(store, id, change, since));
        self.bell.notify_one();
    }

    /// The number of the last change that waits: those kept later may be younger than a change that is sent now.
    pub(super) fn mark(&self) -> u64 {
        self.state.lock().numbers
    }

    /// Takes note that the store has confirmed a change of `id` that was sent at `mark`.
    pub(super) fn confirm(&self, store: &Arc<dyn Distant>, id: &str, change: &Change, mark: u64) {
        let now = self.clock.now();
        self.update(|state| match change {
            Change::Expire => state.remember(now, store, id),
            Change::Invalidate | Change::Claim(..) => state.done(store, id, mark, now),
        });
    }

    /// The server is another one: what it may lack waits to be done again.
    pub(crate) fn replay(&self) {
        let now = self.clock.now();
        self.update(|state| {
            let confirmed = std::mem::take(&mut state.confirmed);
            for (since, store, id) in confirmed {
                if now.since(since) <= REMEMBERED {
                    state.keep(&store, &id, &Change::Invalidate, now);
                }
            }
        });
        self.servers.fetch_add(1, SeqCst);
        self.bell.notify_one();
    }

    /// How many changes wait, and since when the oldest.
    pub(crate) fn backlog(&self) -> (usize, Duration) {
        let state = self.state.lock();
        let since = state.ids.values().map(|waiting| waiting.since);
        let oldest = since.chain(state.spaces.values().map(|waiting| waiting.since)).min();
        let age = oldest.map_or(Duration::ZERO, |oldest| self.clock.now().since(oldest));
        (state.ids.len() + state.spaces.len(), age)
    }

    /// Has changes confirmed for as long as it runs.
    pub(crate) async fn run(&self) {
        loop {
            if self.waiting.load(SeqCst) == 0 {
                self.bell.notified().await;
            }
            if self.attempt().await.is_err() {
                self.clock.sleep(PAUSE).await;
            }
        }
    }

    /// Has everything confirmed that waits; returns once nothing does.
    pub(crate) async fn drain(&self) {
        while self.waiting.load(SeqCst) > 0 {
            if self.attempt().await.is_err() {
                self.clock.sleep(PAUSE).await;
            }
        }
    }

    async fn attempt(&self) -> Result<(), Unavailable> {
        let (ids, spaces) = self.state.lock().next();
        let attempts = stream::iter(ids).map(|(id, waiting)| async move {
            let Waiting { store, change, number, .. } = waiting;
            store.change(&id, change).await?;
            self.update(|state| state.done(&store, &id, number, self.clock.now()));
            Ok(())
        });
        let all = |ok, done: Result<(), Unavailable>| std::future::ready(ok && done.is_ok());
        let all_done = attempts.buffer_unordered(AT_A_TIME).fold(true, all).await;
        for Waiting { store, number, .. } in spaces {
            store.sweep().await?;
            self.update(|state| state.swept(store.space(), number));
        }
        if all_done { Ok(()) } else { Err(Unavailable) }
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        self.waiting.store(state.ids.len() + state.spaces.len(), SeqCst);
    }
}

impl State {
    fn keep(&mut self, store: &Arc<dyn Distant>, id: &str, change: &Change, since: Moment) {
        let space = store.space();
        self.numbers += 1;
        let number = self.numbers;
        if let Some(waiting) = self.spaces.get_mut(&space) {
            waiting.number = number;
            return;
        }
        if self.ids.len() >= MOST {
            self.ids.retain(|(other, _), _| *other != space);
            let waiting = Waiting { store: store.clone(), change: Change::Invalidate, since, number };
            self.spaces.insert(space, waiting);
            return;
        }
        let soft = matches!(change, Change::Expire);
        // A put is not done late: what it would have stored may be old by then.
        let change = if soft { Change::Expire } else { Change::Invalidate };
        let waiting = Waiting { store: store.clone(), change: change.clone(), since, number };
        let held = self.ids.entry((space, id.into())).or_insert(waiting);
        held.number = number;
        if !soft {
            held.change = change;
        }
    }

    /// Some of what waits, others each time: what cannot be done, as on one node of a cluster, is not in the
    /// way of the rest.
    fn next(&mut self) -> (Vec<(Box<str>, Waiting)>, Vec<Waiting>) {
        let count = BATCH.min(self.ids.len());
        let ids = self.ids.iter().cycle().skip(self.turn).take(count);
        let ids = ids.map(|((_, id), waiting)| (id.clone(), waiting.clone())).collect();
        self.turn = (self.turn + count) % self.ids.len().max(1);
        (ids, self.spaces.values().cloned().collect())
    }

    /// A change whose number is above `mark` came while this one was on its way: it waits on.
    fn done(&mut self, store: &Arc<dyn Distant>, id: &str, mark: u64, now: Moment) {
        let key = (store.space(), Box::from(id));
        if self.ids.get(&key).is_some_and(|waiting| waiting.number <= mark) {
            self.ids.remove(&key);
        }
        self.remember(now, store, id);
    }

    /// What was kept while the space was being swept may concern what the sweep had passed: it is swept again.
    fn swept(&mut self, space: Space, number: u64) {
        if self.spaces.get(&space).is_some_and(|waiting| waiting.number == number) {
            self.spaces.remove(&space);
        }
    }

    fn remember(&mut self, now: Moment, store: &Arc<dyn Distant>, id: &str) {
        let old = |(since, ..): &(Moment, _, _)| now.since(*since) > REMEMBERED;
        while self.confirmed.len() >= MOST || self.confirmed.front().is_some_and(old) {
            self.confirmed.pop_front();
        }
        self.confirmed.push_back((now, store.clone(), id.into()));
    }
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, oldest) = self.backlog();
        f.debug_struct("Deferred").field("count", &count).field("oldest", &oldest).finish_non_exhaustive()
    }
}
