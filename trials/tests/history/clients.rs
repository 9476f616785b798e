//! The clients of the processes: each does one random step after the other.

use std::{sync::Mutex, time::Duration};

use forebay_trials::{
    history::{Act, Step},
    order::{Order, Origin},
};
use futures::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::RwLock;

use super::{CLIENTS, World};

/// The first ids are changed often, the others seldom.
const BUSY: usize = 4;
const IDS: usize = 28;

/// How often, of 100 steps, one changes, expires or puts an id; the others load or read.
const CHANGES: [u32; 3] = [15, 8, 10];
const SELDOM_CHANGES: [u32; 3] = [4, 2, 2];

/// What the clients share.
struct Desk<'a> {
    world: &'a World,
    /// Among themselves puts are last-arrival-wins: one at a time, and no other change beside it.
    changing: Vec<RwLock<()>>,
    steps: Mutex<Vec<Step>>,
}

pub(crate) async fn play(world: &World, seed: u64) -> Vec<Step> {
    let changing = (0..IDS).map(|_| RwLock::new(())).collect();
    let desk = Desk { world, changing, steps: Mutex::default() };
    let clients =
        (0..world.workers.len()).flat_map(|process| (0..CLIENTS).map(move |client| (process, client)));
    join_all(clients.map(|(process, client)| {
        let own = seed.wrapping_add(1 + client + CLIENTS * process as u64);
        desk.client(process, StdRng::seed_from_u64(own))
    }))
    .await;
    desk.steps.into_inner().unwrap()
}

impl Desk<'_> {
    async fn client(&self, process: usize, mut dice: StdRng) {
        while self.world.goes_on() {
            let busy = dice.random_bool(0.3);
            let at = if busy { dice.random_range(0..BUSY) } else { dice.random_range(BUSY..IDS) };
            let step = self.step(process, at, if busy { CHANGES } else { SELDOM_CHANGES }, &mut dice).await;
            self.steps.lock().unwrap().push(step);
            tokio::time::sleep(Duration::from_millis(dice.random_range(0..40))).await;
        }
    }

    async fn step(
        &self,
        process: usize,
        at: usize,
        [change, expire, put]: [u32; 3],
        dice: &mut StdRng,
    ) -> Step {
        let (worker, id) = (&self.world.workers[process], format!("id-{at}"));
        let roll = dice.random_range(0..100);
        let (act, call) = if roll < change {
            let _beside_others = self.changing[at].read().await;
            let version = worker.raise(&id).await;
            (Act::Change(version), worker.call(Order::Invalidate(id.clone())).await)
        } else if roll < change + expire {
            (Act::Expire, worker.call(Order::Expire(id.clone())).await)
        } else if roll < change + expire + put {
            let _alone = self.changing[at].write().await;
            let version = worker.raise(&id).await;
            (Act::Change(version), worker.call(Order::Put(id.clone(), version)).await)
        } else if dice.random_bool(0.4) {
            (Act::Read, worker.call(Order::Read(id.clone())).await)
        } else {
            let origin = Origin::Row { ms: dice.random_range(0..40) };
            (Act::Load, worker.call(Order::Load { id: id.clone(), callers: 1, origin }).await)
        };
        Step { process, id, act, call }
    }
}
