//! What the guards of one holding share. There are several only where a lock is asked for again under the caller's own
//! token.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use super::{agenda::Place, hold::Hold, home::Inner, keeper::Leave, tally::Counted};
use crate::{clock::Moment, sync::Mutex, token::Token};

/// One holding, freed with the last of its guards.
pub(super) struct Grip {
    pub(super) hold: Arc<Hold>,
    pub(super) inner: Arc<Inner>,
    place: Place,
    /// Dropped without a word, it has the keeper free the lock.
    leave: Mutex<Option<oneshot::Sender<Leave>>>,
    /// Whether the lock is, or will be, in other hands under the same token.
    elsewhere: AtomicBool,
    /// Whether its token is one of the caller's.
    is_own: bool,
    _counted: Counted,
}

impl Grip {
    /// The grip of `hold`, whose keeper is at `place` and hears `leave`.
    pub(super) fn new(
        inner: Arc<Inner>,
        hold: Arc<Hold>,
        place: Place,
        leave: oneshot::Sender<Leave>,
        is_own: bool,
    ) -> Arc<Self> {
        let (leave, elsewhere) = (Mutex::new(Some(leave)), AtomicBool::new(false));
        let counted = inner.held.enter();
        Arc::new(Self { hold, inner, place, leave, elsewhere, is_own, _counted: counted })
    }

    /// Leaves the lock to whoever has its token: the last guard does not free it.
    pub(super) fn hand_out(&self) {
        self.elsewhere.store(true, SeqCst);
    }

    pub(super) fn is_elsewhere(&self) -> bool {
        self.elsewhere.load(SeqCst)
    }

    /// Ends the holding for all of its guards, of whom one sees to the lock.
    pub(super) fn end(&self) {
        if let Some(leave) = self.leave.lock().take() {
            leave.send(Leave).ok();
        }
        if let Some(keeper) = self.inner.agenda.take(self.place) {
            keeper.leave();
        }
        self.hold.end();
    }
}

impl Drop for Grip {
    fn drop(&mut self) {
        self.inner.own.forget(self);
        if self.is_elsewhere() {
            return self.end();
        }
        drop(self.leave.lock().take());
        // It finds that its holder is gone.
        if let Some(keeper) = self.inner.agenda.take(self.place) {
            self.inner.tasks.spawn(keeper.run());
        }
    }
}

impl fmt::Debug for Grip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grip").field("hold", &self.hold).finish_non_exhaustive()
    }
}

/// What is held in this process under tokens of its callers.
#[derive(Debug, Default)]
pub(super) struct Own(Mutex<HashMap<Key, Weak<Grip>>>);

/// A lock's name, and a token of the caller's.
type Key = (Arc<str>, Token);

impl Own {
    /// The grip of a lock that was asked for at `asked`, for `life`, and granted with `fence`: the one that is there, or
    /// else a `new` one.
    pub(super) fn join(
        &self,
        key: Key,
        fence: u64,
        asked: Moment,
        life: Duration,
        new: impl FnOnce() -> Arc<Grip>,
    ) -> Arc<Grip> {
        let mut held = self.0.lock();
        let before = held.get(&key).and_then(Weak::upgrade);
        if let Some(before) = &before {
            if before.hold.fence == fence && before.hold.prolong(asked, life) {
                return before.clone();
            }
            // The lock is another holding by now, which its guards must not free.
            before.hand_out();
            before.end();
        }
        let grip = new();
        held.insert(key, Arc::downgrade(&grip));
        drop(held);
        grip
    }

    fn forget(&self, grip: &Grip) {
        if grip.is_own {
            let key = (grip.hold.name.clone(), grip.hold.token);
            let mut held = self.0.lock();
            if held.get(&key).is_some_and(|kept| std::ptr::eq(kept.as_ptr(), grip)) {
                held.remove(&key);
            }
        }
    }
}
