//! Invalidating a second time, a while later: a load in between may have read a replica of the origin that lagged behind.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use futures::stream::{self, StreamExt};

use super::{backend::Change, inner::Inner, numbers::Group};
use crate::{clock::Moment, hash::Seed, observe::ChangeSource, sync::Mutex};

/// How many wait; beyond, the whole space does in their place.
const MOST: usize = 10_000;

/// How many are done at a time.
const AT_A_TIME: usize = 64;

/// What is invalidated a second time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    /// An id, encoded.
    Id(Arc<str>),
    Group(Group),
}

/// What of one space waits to be invalidated a second time.
pub(crate) struct Again {
    after: Duration,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Each item once, by when it is due.
    due: BTreeSet<(Moment, Item)>,
    /// When each is due that was invalidated last: with that it is done, and until then it comes back.
    last: HashMap<Item, Moment, Seed>,
    /// Whether somebody sees to them.
    attended: bool,
}

impl Again {
    pub(super) fn new(after: Duration) -> Self {
        Self { after, waiting: Mutex::default() }
    }

    /// Takes note that `item` was invalidated at `now`. Answers whether somebody is to be found who sees to it.
    fn add(&self, item: Item, now: Moment) -> bool {
        let mut waiting = self.waiting.lock();
        let is_full = waiting.last.len() >= MOST && !waiting.last.contains_key(&item);
        let item = if is_full { Item::Group(Group::Space) } else { item };
        let at = now.after(self.after);
        if waiting.last.insert(item.clone(), at).is_none() {
            waiting.due.insert((at, item));
        }
        !std::mem::replace(&mut waiting.attended, true)
    }

    /// When the next is due; whoever asks is relieved where there is none.
    fn next(&self) -> Option<Moment> {
        let mut waiting = self.waiting.lock();
        let next = waiting.due.first().map(|(at, _)| *at);
        waiting.attended = next.is_some();
        next
    }

    /// Takes out what is due at `now`.
    fn take(&self, now: Moment) -> Vec<Item> {
        let waiting = &mut *self.waiting.lock();
        let mut taken = Vec::new();
        while let Some(item) = pop_due(&mut waiting.due, now) {
            match waiting.last[&item] {
                later if later > now => {
                    waiting.due.insert((later, item.clone()));
                }
                _ => {
                    waiting.last.remove(&item);
                }
            }
            taken.push(item);
        }
        taken
    }
}

fn pop_due(due: &mut BTreeSet<(Moment, Item)>, now: Moment) -> Option<Item> {
    due.first().filter(|(at, _)| *at <= now)?;
    due.pop_first().map(|(_, item)| item)
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// Has `item`, which is being invalidated, invalidated a second time if the space is to do that.
    pub(super) fn do_again(self: &Arc<Self>, item: impl FnOnce() -> Item) {
        let Some(again) = &self.again else { return };
        let tasks = &self.shared.context.tasks;
        if !tasks.is_stopping() && again.add(item(), self.now()) {
            let inner = self.clone();
            tasks.spawn(async move { inner.see_to_it().await });
        }
    }

    /// Invalidates what waits, when it is due; all of it at once when the process shuts down.
    async fn see_to_it(self: Arc<Self>) {
        let (clock, tasks) = (&self.shared.context.clock, &self.shared.context.tasks);
        let Some(again) = &self.again else { return };
        while let Some(next) = again.next() {
            let now = tokio::select! {
                biased;
                () = tasks.stopping() => Moment::NEVER,
                () = clock.sleep(next.since(clock.now())) => clock.now(),
            };
            let each = |item| self.invalidate_item(item);
            stream::iter(again.take(now)).for_each_concurrent(AT_A_TIME, each).await;
        }
    }

    async fn invalidate_item(self: &Arc<Self>, item: Item) {
        match item {
            Item::Id(key) => self.change_once(key, Change::Invalidate, ChangeSource::Invalidate).await,
            Item::Group(group) => self.raise_once(group).await,
        };
    }
}

impl fmt::Debug for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Again").field("after", &self.after).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Duration = Duration::from_secs(2);
    const SECOND: Duration = Duration::from_secs(1);

    fn id(id: &str) -> Item {
        Item::Id(id.into())
    }

    fn at(seconds: u32) -> Moment {
        Moment::default().after(SECOND * seconds)
    }

    #[test]
    fn each_is_due_a_while_after_it_was_invalidated() {
        let again = Again::new(AFTER);
        assert!(again.add(id("a"), at(0)));
        assert!(!again.add(id("b"), at(1)));
        assert_eq!((again.next(), again.take(at(1))), (Some(at(2)), vec![]));
        assert_eq!(again.take(at(2)), [id("a")]);
        assert_eq!(again.take(at(9)), [id("b")]);
        assert_eq!(again.next(), None);
        assert!(again.add(id("a"), at(9)));
    }

    #[test]
    fn what_is_invalidated_often_is_so_again_after_the_first_and_after_the_last() {
        let again = Again::new(AFTER);
        for _ in 0..1000 {
            again.add(id("a"), at(0));
            again.add(id("a"), at(1));
        }
        assert_eq!(again.take(at(2)), [id("a")]);
        assert_eq!(again.take(at(3)), [id("a")]);
        assert_eq!(again.next(), None);
    }

    #[test]
    fn what_is_due_twice_by_now_is_taken_once() {
        let again = Again::new(AFTER);
        again.add(id("a"), at(0));
        again.add(id("a"), at(1));
        assert_eq!(again.take(at(5)), [id("a")]);
        assert_eq!(again.next(), None);
    }

    #[test]
    fn beyond_a_bound_the_whole_space_waits() {
        let again = Again::new(AFTER);
        for n in 0..MOST {
            again.add(id(&n.to_string()), at(0));
        }
        for n in 0..MOST {
            again.add(id(&format!("more:{n}")), at(1));
        }
        // One of those that wait is no more.
        again.add(id("7"), at(1));
        assert_eq!(again.take(at(2)).len(), MOST);
        assert_eq!(again.take(at(3)), [id("7"), Item::Group(Group::Space)]);
        assert_eq!(again.next(), None);
    }
}
