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
    backend::{Backend, Change, Unavailable},
    numbers::{Group, Numbers},
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

    /// What this process knows of the numbers of the space.
    fn held_numbers(&self) -> &Numbers;
}

/// What a change concerns, but for whole spaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Item {
    Id(Box<str>),
    Tag(Box<str>),
}

/// The changes of one `Forebay` that are not confirmed, and those confirmed lately.
pub(crate) struct Deferred {
    clock: Clock,
    state: Mutex<State>,
    /// How many items and spaces wait: zero spares the readers the lock.
    waiting: AtomicUsize,
    /// How often the server has become another one.
    servers: AtomicUsize,
    bell: Notify,
}

/// When a change was sent: which others waited then, and for which server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// That of the last change that waited: those kept later may be younger.
    number: u64,
    server: usize,
}

#[derive(Default)]
struct State {
    items: HashMap<(Space, Item), Waiting>,
    /// What waits to be invalidated as a whole, with all that waited of it.
    spaces: HashMap<Space, Waiting>,
    /// Without an item, the whole space.
    confirmed: VecDeque<(Moment, Arc<dyn Distant>, Option<Item>)>,
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
        state.spaces.contains_key(&space) || state.items.contains_key(&(space, Item::Id(id.into())))
    }

    /// Whether the whole space waits to be invalidated, so that nothing the store has of it is to be used.
    pub(super) fn holds_all(&self, space: Space) -> bool {
        self.waiting.load(SeqCst) > 0 && self.state.lock().spaces.contains_key(&space)
    }

    /// The number of the server that is asked now. An answer that came from a later one may lack a change that
    /// was not yet to be waited for when it was asked.
    pub(super) fn server(&self) -> usize {
        self.servers.load(SeqCst)
    }

    /// Keeps a change until the store confirms it. What invalidates stays in the place of what only expires.
    pub(super) fn keep(&self, store: &Arc<dyn Distant>, id: &str, change: &Change) {
        self.keep_item(store, Item::Id(id.into()), change);
    }

    /// Keeps what is to be invalidated together until the store confirms it. In this process it is done.
    pub(super) fn keep_raise(&self, store: &Arc<dyn Distant>, group: &Group) {
        match group {
            Group::Tag(tag) => self.keep_item(store, Item::Tag(tag.clone()), &Change::Invalidate),
            Group::Space => {
                let since = self.clock.now();
                self.update(|state| state.keep_space(store, since));
                self.bell.notify_one();
            }
        }
    }

    fn keep_item(&self, store: &Arc<dyn Distant>, item: Item, change: &Change) {
        let since = self.clock.now();
        self.update(|state| state.keep(store, item, change, since));
        self.bell.notify_one();
    }

    /// What a change that is sent now may be older than.
    pub(super) fn mark(&self) -> Mark {
        let state = self.state.lock();
        Mark { number: state.numbers, server: self.server() }
    }

    /// Takes note that the store has confirmed a change of `id` that was sent at `mark`. Where the server has become
    /// another one meanwhile, nobody knows which of them confirmed it: it waits to be done again.
    pub(super) fn confirm(&self, store: &Arc<dyn Distant>, id: &str, change: &Change, mark: Mark) {
        let (now, item) = (self.clock.now(), Item::Id(id.into()));
        self.update(|state| match change {
            _ if self.server() != mark.server => state.keep(store, item, change, now),
            Change::Expire => state.remember(now, store, Some(item)),
            Change::Invalidate | Change::Claim(..) => state.done(store, item, mark.number, now),
        });
        self.ring();
    }

    /// Takes note likewise of what was to be invalidated together.
    pub(super) fn confirm_raise(&self, store: &Arc<dyn Distant>, group: &Group, mark: Mark) {
        let now = self.clock.now();
        let item = match group {
            Group::Tag(tag) => Some(Item::Tag(tag.clone())),
            Group::Space => None,
        };
        self.update(|state| match item {
            item if self.server() != mark.server => state.keep_again(store, item, now),
            Some(item) => state.done(store, item, mark.number, now),
            None => state.cleared(store, mark.number, now),
        });
        self.ring();
    }

    /// The server is another one: what it may lack waits to be done again.
    pub(crate) fn replay(&self) {
        let now = self.clock.now();
        self.update(|state| {
            let confirmed = std::mem::take(&mut state.confirmed);
            for (since, store, item) in confirmed {
                if now.since(since) <= REMEMBERED {
                    state.keep_again(&store, item, now);
                }
            }
            self.waiting.store(state.items.len() + state.spaces.len(), SeqCst);
            // Whoever sees this sees what waits; and nothing is confirmed between the two.
            self.servers.fetch_add(1, SeqCst);
        });
        self.bell.notify_one();
    }

    /// How many changes wait, and since when the oldest.
    pub(crate) fn backlog(&self) -> (usize, Duration) {
        let state = self.state.lock();
        let since = state.items.values().map(|waiting| waiting.since);
        let oldest = since.chain(state.spaces.values().map(|waiting| waiting.since)).min();
        let age = oldest.map_or(Duration::ZERO, |oldest| self.clock.now().since(oldest));
        (state.items.len() + state.spaces.len(), age)
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
        let (items, spaces) = self.state.lock().next();
        let attempts = stream::iter(items).map(|(item, waiting)| async move {
            let Waiting { store, change, number, .. } = waiting;
            let server = self.server();
            match &item {
                Item::Id(id) => store.change(id, change).await?,
                Item::Tag(tag) => raise(&*store, &Group::Tag(tag.clone())).await?,
            }
            self.update(|state| {
                if self.server() == server {
                    state.done(&store, item, number, self.clock.now());
                }
            });
            Ok(())
        });
        let all = |ok, done: Result<(), Unavailable>| std::future::ready(ok && done.is_ok());
        let all_done = attempts.buffer_unordered(AT_A_TIME).fold(true, all).await;
        for Waiting { store, number, .. } in spaces {
            let mark = Mark { number, server: self.server() };
            raise(&*store, &Group::Space).await?;
            self.confirm_raise(&store, &Group::Space, mark);
        }
        if all_done { Ok(()) } else { Err(Unavailable) }
    }

    /// Wakes who does again what waits, if anything does.
    fn ring(&self) {
        if self.waiting.load(SeqCst) > 0 {
            self.bell.notify_one();
        }
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        self.waiting.store(state.items.len() + state.spaces.len(), SeqCst);
    }
}

/// Invalidates in the store what is invalidated in this process.
async fn raise(store: &dyn Distant, group: &Group) -> Result<(), Unavailable> {
    let own = store.held_numbers().pending(group);
    let to = store.raise(group, own).await?;
    store.held_numbers().confirm(group, own, to);
    Ok(())
}

impl State {
    fn keep(&mut self, store: &Arc<dyn Distant>, item: Item, change: &Change, since: Moment) {
        let space = store.space();
        self.numbers += 1;
        let number = self.numbers;
        if let Some(waiting) = self.spaces.get_mut(&space) {
            waiting.number = number;
            return;
        }
        if self.items.len() >= MOST {
            store.held_numbers().pass(&Group::Space);
            return self.keep_space(store, since);
        }
        let soft = matches!(change, Change::Expire);
        // A put is not done late: what it would have stored may be old by then.
        let change = if soft { Change::Expire } else { Change::Invalidate };
        let waiting = Waiting { store: store.clone(), change: change.clone(), since, number };
        let held = self.items.entry((space, item)).or_insert(waiting);
        held.number = number;
        if !soft {
            held.change = change;
        }
    }

    fn keep_space(&mut self, store: &Arc<dyn Distant>, since: Moment) {
        let space = store.space();
        self.numbers += 1;
        self.items.retain(|(other, _), _| *other != space);
        let (store, number) = (store.clone(), self.numbers);
        let held = self.spaces.entry(space);
        held.or_insert(Waiting { store, change: Change::Invalidate, since, number }).number = number;
    }

    /// What was confirmed by another server than is asked now.
    fn keep_again(&mut self, store: &Arc<dyn Distant>, item: Option<Item>, now: Moment) {
        match item {
            Some(item) => {
                if let Item::Tag(tag) = &item {
                    store.held_numbers().pass(&Group::Tag(tag.clone()));
                }
                self.keep(store, item, &Change::Invalidate, now);
            }
            None => {
                store.held_numbers().pass(&Group::Space);
                self.keep_space(store, now);
            }
        }
    }

    /// Some of what waits, others each time: what cannot be done, as on one node of a cluster, is not in the
    /// way of the rest.
    fn next(&mut self) -> (Vec<(Item, Waiting)>, Vec<Waiting>) {
        let count = BATCH.min(self.items.len());
        let items = self.items.iter().cycle().skip(self.turn).take(count);
        let items = items.map(|((_, item), waiting)| (item.clone(), waiting.clone())).collect();
        self.turn = (self.turn + count) % self.items.len().max(1);
        (items, self.spaces.values().cloned().collect())
    }

    /// A change whose number is above `mark` came while this one was on its way: it waits on.
    fn done(&mut self, store: &Arc<dyn Distant>, item: Item, mark: u64, now: Moment) {
        let key = (store.space(), item);
        if self.items.get(&key).is_some_and(|waiting| waiting.number <= mark) {
            self.items.remove(&key);
        }
        self.remember(now, store, Some(key.1));
    }

    /// As [`State::done`], for a whole space.
    fn cleared(&mut self, store: &Arc<dyn Distant>, mark: u64, now: Moment) {
        let space = store.space();
        if self.spaces.get(&space).is_some_and(|waiting| waiting.number <= mark) {
            self.spaces.remove(&space);
        }
        self.remember(now, store, None);
    }

    fn remember(&mut self, now: Moment, store: &Arc<dyn Distant>, item: Option<Item>) {
        let old = |(since, ..): &(Moment, _, _)| now.since(*since) > REMEMBERED;
        while self.confirmed.len() >= MOST || self.confirmed.front().is_some_and(old) {
            self.confirmed.pop_front();
        }
        self.confirmed.push_back((now, store.clone(), item));
    }
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, oldest) = self.backlog();
        f.debug_struct("Deferred").field("count", &count).field("oldest", &oldest).finish_non_exhaustive()
    }
}
