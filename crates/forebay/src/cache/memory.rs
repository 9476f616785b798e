//! The store inside the process: entries under the budget of process memory, leases and notes beside them.

mod register;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{
    backend::{
        Answer, Backend, Budget, Change, Finder, Held, Leased, Note, Question, Reject, Request, Seen, Settle,
        Stored,
    },
    envelope::Head,
    local::{self, Memory},
    numbers::{Group, Known},
    pattern::Pattern,
    slots::Space,
    token::Token,
};
use crate::{
    clock::Clock,
    expiring::{Expiring, Next},
    key::{Keys, Name, Part},
    wake::Wake,
};

pub(crate) use self::register::{Register, Tags};

/// How many ids are told at a time.
const PAGE: usize = 500;

/// One space of the memory store. Within one `Forebay` a space has one version, so none is looked at here.
#[derive(Debug)]
pub(crate) struct MemoryBackend {
    pub(crate) name: Name,
    pub(crate) version: u32,
    pub(crate) space: Space,
    pub(crate) keys: Keys,
    pub(crate) memory: Arc<Memory>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) register: Register,
    pub(crate) clock: Clock,
    pub(crate) wake: Wake,
}

/// The leases and notes of all spaces of a memory store: never evicted, each with a deadline.
pub(crate) type Leases = Expiring<Held>;

impl MemoryBackend {
    fn stored(&self, id: &str) -> Option<Stored> {
        let local::Stored { bytes, until } = self.memory.stored(self.space, id)?;
        let left = until.since(self.clock.now());
        (!left.is_zero()).then_some(Stored { bytes, left })
    }

    fn usable(&self, id: &str, request: &Request) -> Option<Stored> {
        let stored = self.stored(id)?;
        let head = Head::read(&stored.bytes).ok()?;
        let rejected = match request.reject {
            Reject::Nothing => false,
            Reject::Entry(entry) => entry == head.entry_id,
            Reject::All => true,
        };
        let ahead = if request.stale == Some(head.entry_id) { request.ahead } else { Duration::ZERO };
        (!rejected && stored.left.saturating_sub(head.stale_for) > ahead).then_some(stored)
    }

    fn store(&self, id: &str, bytes: Bytes, life: Duration) {
        let until = self.clock.now().after(life);
        self.memory.store(self.space, id, local::Stored { bytes, until });
    }

    fn holds(&self, id: &str, entry: u64) -> bool {
        let stored = self.stored(id);
        stored.is_some_and(|stored| Head::read(&stored.bytes).is_ok_and(|head| head.entry_id == entry))
    }

    fn decide_lease(
        &self,
        id: &str,
        request: &Request,
        held: &mut Option<(&mut Held, Duration)>,
    ) -> (Next<Held>, Leased) {
        if let Some(stored) = self.usable(id, request) {
            return (Next::Keep, Leased::Entry(stored));
        }
        match held {
            Some((Held::Lease { waited, .. }, left)) => {
                *waited |= request.listening;
                (Next::Keep, Leased::Busy(*left))
            }
            Some((Held::Note(note), left)) if request.reject != Reject::All => {
                let answer = match note {
                    Note::Failed => Leased::Failed(*left),
                    Note::Unshared => Leased::Unshared,
                };
                (Next::Keep, answer)
            }
            _ => {
                // A caller that has waited may have others beside it, which wait for the end of this lease.
                let lease = Held::Lease { token: request.token, waited: request.listening };
                let stale_is_kept = request.stale.is_some_and(|stale| self.holds(id, stale));
                (Next::Set(lease, request.life), Leased::Granted { stale_is_kept })
            }
        }
    }

    fn decide_settle(&self, id: &str, step: Settle, left: Duration) -> Next<Held> {
        match step {
            Settle::Fill { bytes, life } => {
                self.store(id, bytes, life);
                Next::Clear
            }
            // A holder who asks for less keeps what it has: renewing never shortens.
            Settle::Renew(life) => Next::Prolong(life.max(left)),
            Settle::Note(note, life) => {
                if note == Note::Unshared {
                    self.memory.discard(self.space, id);
                }
                Next::Set(Held::Note(note), life)
            }
            Settle::Discard => {
                self.memory.discard(self.space, id);
                Next::Clear
            }
            Settle::Release => Next::Clear,
        }
    }

    fn apply(&self, id: &str, change: &Change) -> Next<Held> {
        match change {
            Change::Invalidate | Change::Claim(..) => self.memory.discard(self.space, id),
            Change::Expire => self.age(id),
        }
        match change {
            Change::Claim(token, life) => Next::Set(Held::Lease { token: *token, waited: false }, *life),
            Change::Invalidate | Change::Expire => Next::Clear,
        }
    }

    /// Leaves an entry only its stale life; one that is stale already keeps what is left of that.
    fn age(&self, id: &str) {
        let Some(stored) = self.stored(id) else { return };
        match Head::read(&stored.bytes) {
            Ok(head) if stored.left <= head.stale_for => {}
            Ok(head) if !head.stale_for.is_zero() => {
                self.store(id, stored.bytes, head.stale_for);
            }
            _ => self.memory.discard(self.space, id),
        }
    }

    /// Makes a change, and wakes who waited for the lease that ends with it.
    pub(super) fn make(&self, id: &str, change: &Change) {
        let name = self.lease_key(id);
        let waited = self.leases.step(&name, |held| {
            let waited = matches!(held, Some((Held::Lease { waited: true, .. }, _)));
            (self.apply(id, change), waited)
        });
        self.wake_if(waited, &name);
    }

    /// The ids that `pattern` takes, of what is stored or being loaded. Leases first, as a load that ends stores its value
    /// before it gives its lease back.
    pub(super) fn ids(&self, pattern: &Pattern) -> Vec<Box<str>> {
        let lease = |name: &str| {
            let id = self.keys.read_entry(Part::Lease, &self.name, self.version, name)?;
            pattern.takes(id).then(|| id.into())
        };
        let mut ids: Vec<_> = self.leases.names(usize::MAX).iter().filter_map(|name| lease(name)).collect();
        let stored = self.memory.stored_ids(self.space, |id| pattern.takes(id));
        ids.extend(stored.into_iter().filter(|id| self.stored(id).is_some()));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn lease_key(&self, id: &str) -> String {
        self.keys.lease(&self.name, self.version, id)
    }

    fn wake_if(&self, waited: bool, name: &str) {
        if waited {
            self.wake.wake(name);
        }
    }
}

impl Backend for MemoryBackend {
    fn budget(&self) -> Budget {
        Budget(Duration::MAX)
    }

    fn read<'a>(&'a self, id: &'a str, _: &'a mut Budget) -> Answer<'a, Option<Stored>> {
        answer(self.stored(id))
    }

    fn lease<'a>(&'a self, id: &'a str, request: Request, _: &'a mut Budget) -> Answer<'a, Leased> {
        answer(self.leases.step(&self.lease_key(id), |mut held| self.decide_lease(id, &request, &mut held)))
    }

    fn settle<'a>(&'a self, id: &'a str, token: Token, step: Settle) -> Answer<'a, bool> {
        let name = self.lease_key(id);
        let ends = !matches!(step, Settle::Renew(_));
        let settled = self.leases.step(&name, |held| match held {
            Some((Held::Lease { token: holder, waited }, left)) if *holder == token => {
                let waited = *waited;
                (self.decide_settle(id, step, left), Some(waited))
            }
            _ => (Next::Keep, None),
        });
        self.wake_if(ends && settled == Some(true), &name);
        answer(settled.is_some())
    }

    fn change<'a>(&'a self, id: &'a str, change: Change) -> Answer<'a, ()> {
        self.make(id, &change);
        answer(())
    }

    fn inspect<'a>(&'a self, id: &'a str) -> Answer<'a, Seen> {
        let held = |held: Option<(&mut Held, Duration)>| (Next::Keep, held.map(|(held, left)| (*held, left)));
        answer(Seen {
            stored: self.stored(id),
            foreign: None,
            held: self.leases.step(&self.lease_key(id), held),
        })
    }

    fn numbers<'a>(&'a self, question: Question<'a>, _: &'a mut Budget) -> Answer<'a, Known> {
        answer(self.register.answer(&question))
    }

    fn raise<'a>(&'a self, group: &'a Group, own: u64) -> Answer<'a, u64> {
        answer(self.register.raise(group, own))
    }

    fn find<'a>(&'a self, finder: &'a dyn Finder) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            for ids in self.ids(finder.pattern()).chunks(PAGE) {
                if !finder.found(ids.to_vec()).await {
                    return false;
                }
                tokio::task::yield_now().await;
            }
            true
        })
    }

    fn wake_name(&self, id: &str) -> String {
        self.lease_key(id)
    }
}

fn answer<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}
