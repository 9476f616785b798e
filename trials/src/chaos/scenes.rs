//! Faults with ids of their own, which nobody else asks for: what they break would hardly ever be seen by chance.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use super::{
    FORGETFUL, REPLAYED,
    arena::{Arena, Seat},
    clients::{self, Ask},
    ground::Ground,
};
use crate::moment::Moment;

/// So many ids are changed. None of them has a tag.
const IDS: usize = 4;

/// For longer than anything old may be served, with all that may be late.
const LOOKED_AT: Duration = Duration::from_secs(3);

/// How often it is looked.
const PAUSE: Duration = Duration::from_millis(100);

/// What is written has reached the replicas by then.
const REPLICATED: Duration = Duration::from_millis(300);

/// Loses all messages that would tell one process of some changes by another, and looks what it serves afterwards.
pub(super) async fn lose_messages(arena: &Arena, hearer: &Seat, teller: &Seat) {
    let name = format!("quiet-{}-", hearer.number);
    let ids: Vec<_> = (0..IDS).map(|at| format!("{name}{}", 2 * at + 1)).collect();
    load(arena, hearer, &ids).await;
    hearer.way.drop_replies(IDS as u64, &name);
    change(arena, teller, &ids).await;
    let began = Moment::now();
    while Moment::now().since(began) < LOOKED_AT {
        load(arena, hearer, &ids).await;
        sleep(PAUSE).await;
    }
}

/// Changes made by some processes of which the replicas are not told: whatever takes over does not know of them.
pub(super) struct Withheld<'a> {
    arena: &'a Arena,
    changed: Vec<(&'a Seat, [String; 1])>,
}

impl<'a> Withheld<'a> {
    /// Loads what is to be changed.
    pub(super) async fn begin(arena: &'a Arena) -> Self {
        let remember = arena.seats.iter().filter(|seat| seat.number != FORGETFUL);
        let changed: Vec<_> = remember.map(|seat| (seat, [format!("withheld-{}-1", seat.number)])).collect();
        join_all(changed.iter().map(|(seat, id)| load(arena, seat, id))).await;
        sleep(REPLICATED).await;
        Self { arena, changed }
    }

    /// Cuts the replicas off, and makes the changes.
    pub(super) async fn change(&self) {
        self.arena.apart(Ground::cut_replicas_off).await;
        join_all(self.changed.iter().map(|(seat, id)| change(self.arena, seat, id))).await;
    }

    /// Looks, as a process without memory does, whether another server has the changes by now.
    pub(super) async fn look(&self) {
        sleep(REPLAYED).await;
        for _ in 0..IDS {
            sleep(PAUSE).await;
            let reader = &self.arena.seats[FORGETFUL];
            for (_, [id]) in &self.changed {
                clients::does(self.arena, reader, id, Ask::Read).await;
            }
        }
    }
}

async fn load(arena: &Arena, seat: &Seat, ids: &[String]) {
    join_all(ids.iter().map(|id| clients::does(arena, seat, id, Ask::Load))).await;
}

async fn change(arena: &Arena, seat: &Seat, ids: &[String]) {
    join_all(ids.iter().map(|id| clients::does(arena, seat, id, Ask::Change))).await;
}
