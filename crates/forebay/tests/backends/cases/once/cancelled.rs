//! Callers that are dropped after every number of polls that they can be dropped after.

use std::{
    future::Future,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use forebay::once::{Begun, Failure, Ran};

use super::{KEEP, LEASE, ask, begin, pass, payments, record, told};
use crate::{
    polls::within_polls,
    rig::{Rig, SECOND},
};

/// More than any of these calls is polled.
const MOST: usize = 100;

/// Does something that is dropped after so many polls, for every number until it ends by itself.
async fn at_every_await<T>(rig: &impl Rig, what: impl AsyncFn(usize) -> Option<T>) {
    for polls in 0..MOST {
        let ended = what(polls).await.is_some();
        rig.settle().await;
        if ended {
            return;
        }
    }
    panic!("it does not end");
}

/// Waits until `fact` holds: what was asked late is taken back by a task.
async fn soon<Fut: Future<Output = bool>>(rig: &impl Rig, polls: usize, fact: impl Fn() -> Fut) {
    for _ in 0..500 {
        rig.settle().await;
        if fact().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    panic!("somebody who was dropped after {polls} polls keeps others out");
}

pub(crate) async fn a_claim_that_is_dropped_at_any_await_keeps_nobody_out(rig: impl Rig) {
    at_every_await(&rig, async |polls| {
        let name = format!("code {polls}");
        let claim = within_polls(polls, rig.forebay().claim(&name, KEEP)).await;
        if claim.is_none() {
            soon(&rig, polls, async || rig.forebay().claim(&name, KEEP).await.unwrap().is_claimed()).await;
        }
        claim
    })
    .await;
}

pub(crate) async fn a_request_that_is_dropped_at_any_await_keeps_nobody_out(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |polls| {
        let order = polls.to_string();
        let begun = within_polls(polls, ask(&payments, &order)).await;
        if begun.is_none() {
            soon(&rig, polls, async || matches!(ask(&payments, &order).await, Begun::Run(_))).await;
        }
        begun
    })
    .await;
}

pub(crate) async fn a_wait_that_is_dropped_at_any_await_keeps_nobody_out(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |polls| {
        let order = polls.to_string();
        let execution = begin(&payments, &order).await;
        let (waiting, waited) = (payments.clone(), order.clone());
        let waits = tokio::spawn(async move {
            within_polls(polls, async {
                told(&waiting.begin_within(&waited, "12 EUR", SECOND).await.unwrap())
            })
            .await
        });
        rig.settle().await;
        assert!(execution.give_up().await.unwrap());
        let begun = waits.await.unwrap();
        if begun.is_none() {
            soon(&rig, polls, async || matches!(ask(&payments, &order).await, Begun::Run(_))).await;
        }
        begun
    })
    .await;
}

pub(crate) async fn a_completion_that_is_dropped_at_any_await_is_kept(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |polls| {
        let order = polls.to_string();
        let execution = begin(&payments, &order).await;
        let completed = within_polls(polls, execution.complete(record("paid"))).await;
        soon(&rig, polls, async || told(&ask(&payments, &order).await) == "paid").await;
        completed
    })
    .await;
}

pub(crate) async fn a_surrender_that_is_dropped_at_any_await_lets_the_next_run(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |polls| {
        let order = polls.to_string();
        let execution = begin(&payments, &order).await;
        let given_up = within_polls(polls, execution.give_up()).await;
        soon(&rig, polls, async || matches!(ask(&payments, &order).await, Begun::Run(_))).await;
        given_up
    })
    .await;
}

pub(crate) async fn work_that_is_dropped_at_any_await_runs_once_at_most(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |polls| {
        let (order, runs) = (polls.to_string(), AtomicUsize::new(0));
        let work = || {
            payments.run(&order, "12 EUR", async |_| {
                runs.fetch_add(1, SeqCst);
                tokio::task::yield_now().await;
                Ok::<_, Failure<()>>(record("paid"))
            })
        };
        let ran = within_polls(polls, work()).await;
        rig.settle().await;
        pass(&rig, LEASE).await;
        let again = work().await.unwrap();
        assert_eq!(runs.into_inner(), 1, "{again:?} after {polls} polls");
        assert!(!matches!(again, Ran::Running { .. }), "{again:?} after {polls} polls");
        ran
    })
    .await;
}
