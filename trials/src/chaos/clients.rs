//! Those who ask: each does one random operation after the other, whatever goes wrong.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::time::{sleep, timeout};

use super::{
    arena::{Arena, IDS, Seat},
    history::{Act, End, Step},
    operation::{Effect, Habits, Operation, Rows},
};
use crate::{
    crew::Worker,
    moment::Moment,
    order::{Answer, Order, Origin},
};

/// The clients of one process.
const CLIENTS: u64 = 4;

/// How long a client rests between two operations, in milliseconds.
const REST_MS: std::ops::Range<u64> = 0..30;

/// How long a client rests that finds nobody.
const REPLACING: Duration = Duration::from_millis(50);

/// After so long nobody believes in an answer.
const PATIENCE: Duration = Duration::from_secs(40);

/// Plays until it is over.
pub(super) async fn play(arena: &Arena) {
    let habits = Habits::of(IDS);
    let clients = arena.seats.iter().flat_map(|seat| (0..CLIENTS).map(move |client| (seat, client)));
    join_all(clients.map(|(seat, client)| {
        let own = arena.seed.wrapping_mul(31).wrapping_add(client + CLIENTS * seat.number as u64);
        one(arena, seat, &habits, StdRng::seed_from_u64(own))
    }))
    .await;
}

/// Has every process load every id, once nothing is wrong any more.
pub(super) async fn read_all(arena: &Arena) {
    join_all(arena.seats.iter().map(async |seat| {
        for at in 0..IDS {
            does(arena, seat, &id(at), Ask::Load).await;
        }
    }))
    .await;
}

/// What is asked for outside of the random operations.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ask {
    Load,
    Read,
    Change,
}

/// Asks a process for one thing, and writes down what came of it.
pub(super) async fn does(arena: &Arena, seat: &Seat, id: &str, what: Ask) {
    let ((process, worker), id) = (seat.worker(), id.to_owned());
    let (name, act, order) = match what {
        Ask::Load => {
            let order = Order::Load { id: id.clone(), callers: 1, origin: Origin::Row { ms: 0 } };
            ("load", Act::Load, order)
        }
        Ask::Read => ("read", Act::Read, Order::Read(id.clone())),
        Ask::Change => {
            let Some(version) = raise(&worker, &id).await else { return };
            ("invalidate", Act::Change(version), Order::Invalidate(id.clone()))
        }
    };
    let (asked, ends) = ask(&worker, order).await;
    let step = |end| Step { process, id: id.clone(), others: Arc::default(), name, act, asked, end };
    let steps: Vec<_> = ends.into_iter().map(step).filter(|step| !was_dead(arena, step)).collect();
    arena.history().steps.extend(steps);
}

pub(super) fn id(at: usize) -> String {
    format!("id-{at}")
}

async fn one(arena: &Arena, seat: &Seat, habits: &Habits, mut dice: StdRng) {
    while !arena.is_over() {
        let operation = habits.operation(&mut dice);
        let ids = habits.ids(operation, &mut dice);
        let mut steps = steps(arena, seat, operation, ids, &mut dice).await;
        steps.retain(|step| !was_dead(arena, step));
        if steps.is_empty() {
            sleep(REPLACING).await;
        }
        arena.history().steps.extend(steps);
        sleep(Duration::from_millis(dice.random_range(REST_MS))).await;
    }
}

/// Nothing if the process was killed before it came to the operation itself; else each call of it, or each id.
async fn steps(
    arena: &Arena,
    seat: &Seat,
    operation: &Operation,
    ids: BTreeSet<usize>,
    dice: &mut StdRng,
) -> Vec<Step> {
    let (mut beside, mut alone) = (Vec::new(), Vec::new());
    for &at in &ids {
        match operation.effect {
            Effect::Puts => alone.push(arena.changing[at].write().await),
            Effect::Changes | Effect::Passes => beside.push(arena.changing[at].read().await),
            _ => {}
        }
    }
    let (process, worker) = seat.worker();
    let raised = join_all(ids.into_iter().map(async |at| {
        let version = if operation.raises() { raise(&worker, &id(at)).await } else { Some(0) };
        version.map(|version| (id(at), version))
    }));
    let Some(rows) = raised.await.into_iter().collect::<Option<Vec<_>>>().map(Rows) else {
        return Vec::new();
    };
    let (asked, ends) = ask(&worker, operation.order(&rows, dice)).await;
    let Rows(rows) = rows;
    let all: Arc<[String]> = rows.iter().map(|(id, _)| id.clone()).collect();
    let others = if rows.len() > 1 { all } else { Arc::default() };
    let step = |at: usize| {
        let (id, version) = rows[at.min(rows.len() - 1)].clone();
        let act = operation.act(version, if rows.len() > 1 { 0 } else { at });
        let end = ends[at.min(ends.len() - 1)].clone();
        Step { process, id, others: others.clone(), name: operation.name, act, asked, end }
    };
    (0..rows.len().max(ends.len())).map(step).collect()
}

/// Whether a step was asked of a process that had ended before.
fn was_dead(arena: &Arena, step: &Step) -> bool {
    let died = arena.history().processes[step.process].died;
    matches!(step.end, End::Died(_)) && died.is_some_and(|died| died <= step.asked)
}

async fn raise(worker: &Worker, id: &str) -> Option<u64> {
    match timeout(PATIENCE, worker.ask(Order::Raise(id.to_owned()))).await {
        Ok(Some(Answer::Raised(version))) => Some(version),
        _ => None,
    }
}

/// When it was asked, and how each call ended; of a process that did not answer, how that did.
async fn ask(worker: &Worker, order: Order) -> (Moment, Vec<End>) {
    let asked = Moment::now();
    let ends = match timeout(PATIENCE, worker.ask(order)).await {
        Ok(Some(Answer::Done(calls))) => calls.into_iter().map(End::Told).collect(),
        Ok(_) => vec![End::Died(Moment::now())],
        Err(_) => vec![End::Hung(Moment::now())],
    };
    (asked, ends)
}
