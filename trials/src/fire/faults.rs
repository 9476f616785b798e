//! What happens to the processes: stopped past the life of the lock, killed, cut off, slowed down.

use std::time::Duration;

use forebay::testing::{Flow, Proxy};
use futures::future::join_all;
use rand::{RngExt, rngs::ThreadRng};

use super::{
    LIFE, Stop,
    arena::{Arena, Seat},
};
use crate::moment::Moment;

const LONGEST_DELAY_MS: u64 = 20;

/// Well below what a holder gives up of the life of its lock, to stop in.
const STUTTER_MS: u64 = 25;

/// Strikes until it is over, and heals.
pub(super) async fn play(arena: &Arena<'_>) {
    join_all(arena.seats.iter().map(|seat| befall(arena, seat))).await;
}

async fn befall(arena: &Arena<'_>, seat: &Seat) {
    while !arena.is_over() {
        pause(rand::rng().random_range(100..600)).await;
        let fault = match (rand::rng().random_range(0..10), &seat.proxy) {
            (0..3, _) => stop(arena, seat).await,
            (3, _) => kill(seat).await,
            (4..7, Some(proxy)) => hole(seat, proxy).await,
            (7, Some(proxy)) => lose_answers(proxy).await,
            (8, Some(proxy)) => slow(proxy).await,
            (_, Some(proxy)) => cut(proxy),
            (_, None) => disconnect(arena),
        };
        arena.seen().faults.push((seat.number, fault));
    }
}

async fn stop(arena: &Arena<'_>, seat: &Seat) -> &'static str {
    let (worker, began) = (seat.worker(), Moment::now());
    worker.stop();
    pause(some_lives(&mut rand::rng())).await;
    worker.go_on();
    arena.seen().stops.push(Stop { process: seat.number, began, ended: Moment::now() });
    "stop"
}

async fn kill(seat: &Seat) -> &'static str {
    seat.worker().kill();
    seat.replace().await;
    "kill"
}

/// What is held arrives afterwards. Meanwhile the process stutters, no worse than a holder may.
async fn hole(seat: &Seat, proxy: &Proxy) -> &'static str {
    let (requests, replies, length) = {
        let mut dice = rand::rng();
        (dice.random(), dice.random(), some_lives(&mut dice))
    };
    if requests {
        proxy.requests(Flow::Hold);
    }
    if replies || !requests {
        proxy.replies(Flow::Hold);
    }
    let (worker, until) = (seat.worker(), Moment::now().after(Duration::from_millis(length)));
    while Moment::now() < until {
        worker.stop();
        pause(STUTTER_MS).await;
        worker.go_on();
        pause(STUTTER_MS / 2).await;
    }
    heal(proxy);
    "hole"
}

/// What is asked is done, and nobody is told.
async fn lose_answers(proxy: &Proxy) -> &'static str {
    proxy.replies(Flow::Discard);
    pause(rand::rng().random_range(20..200)).await;
    proxy.cut();
    heal(proxy);
    "deaf"
}

async fn slow(proxy: &Proxy) -> &'static str {
    let delay = || Flow::Delay(Duration::from_millis(rand::rng().random_range(1..=LONGEST_DELAY_MS)));
    proxy.requests(delay());
    proxy.replies(delay());
    pause(rand::rng().random_range(200..1_000)).await;
    heal(proxy);
    "slow"
}

fn cut(proxy: &Proxy) -> &'static str {
    proxy.cut();
    "cut"
}

/// Ends the connections of all clients.
fn disconnect(arena: &Arena<'_>) -> &'static str {
    for node in arena.ground.nodes() {
        node.call(&["CLIENT", "KILL", "TYPE", "normal"]);
    }
    "cut"
}

fn heal(proxy: &Proxy) {
    proxy.requests(Flow::Pass);
    proxy.replies(Flow::Pass);
}

/// From a bit less than one life of the lock to two of them.
fn some_lives(dice: &mut ThreadRng) -> u64 {
    let life = u64::try_from(LIFE.as_millis()).expect("it is short");
    dice.random_range(life * 3 / 4..life * 2)
}

async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
