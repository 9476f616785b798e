//! Those who want the lock: each again and again, in one manner or another, and some go away in between.

use std::time::Duration;

use futures::future::join_all;
use rand::{RngExt, rngs::ThreadRng};
use tokio::time::sleep;

use super::{
    Caller, LIFE,
    arena::{Arena, Seat},
};
use crate::hold::{Hold, Manner};

/// The callers of one process, most of whom stand in line.
const CALLERS: usize = 60;
const IMPATIENT: usize = 2;

/// Longer than the lock lives if it is not renewed.
const LONG_MS: u64 = 450;

/// A caller that waits may be polled so often, and more.
const POLLS: usize = 12;

/// Wants the lock until it is over.
pub(super) async fn play(arena: &Arena<'_>) {
    let callers =
        arena.seats.iter().flat_map(|seat| (0..CALLERS).map(move |number| caller(arena, seat, number)));
    join_all(callers).await;
}

async fn caller(arena: &Arena<'_>, seat: &Seat, number: usize) {
    while !arena.is_over() {
        let order = random(number, &mut rand::rng());
        // Whoever was killed does not tell.
        match seat.worker().hold(order.clone()).await {
            Some(held) => arena.seen().callers.push(Caller { process: seat.number, order, held }),
            None => sleep(Duration::from_millis(50)).await,
        }
        let rest = rand::rng().random_range(0..40);
        sleep(Duration::from_millis(rest)).await;
    }
}

fn random(number: usize, dice: &mut ThreadRng) -> Hold {
    let manner = match number {
        ..IMPATIENT => Manner::Impatient,
        _ if dice.random() => Manner::Run,
        _ => Manner::Guard,
    };
    Hold {
        name: "plan:42".into(),
        manner,
        life_ms: LIFE.as_millis().try_into().expect("it is short"),
        wait_ms: dice.random_range(200..2_000),
        work_ms: if dice.random_ratio(1, 8) { LONG_MS } else { dice.random_range(0..12) },
        polls: dice.random_ratio(1, 4).then(|| dice.random_range(1..=POLLS)),
    }
}
