//! Callers that are dropped after every number of polls that they can be dropped after.

use std::{
    future::Future,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use forebay::once::{Begun, Failure, Ran};

use super::{KEEP, LEASE, ask, begin, pass, payments, record, told};
use crate::{
    polls::{within_polls, within_polls_and},
    rig::{Rig, SECOND},
};

/// More than any of these calls is polled.
const MOST: usize = 100;

/// More than an answer takes.
const ANSWER: Duration = Duration::from_millis(5);

/// When a caller goes away: at which await, and whether what it waits for has been answered by then.
#[derive(Debug, Clone, Copy)]
struct Leaves {
    polls: usize,
    late: bool,
}

impl Leaves {
    /// A name that no other caller has.
    fn name(self) -> String {
        format!("{self:?}")
    }

    /// What `work` ends with, unless its caller goes away.
    async fn within<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self.late {
            // A rig would wait until nothing is on its way, which this is.
            true => within_polls_and(self.polls, work, tokio::time::sleep(ANSWER)).await,
            false => within_polls(self.polls, work).await,
        }
    }
}

/// Does something whose caller goes away, at every await until it ends by itself.
async fn at_every_await<T>(rig: &impl Rig, what: impl AsyncFn(Leaves) -> Option<T>) {
    for late in [false, true] {
        let mut ended = false;
        for polls in 0..MOST {
            ended = what(Leaves { polls, late }).await.is_some();
            rig.settle().await;
            if ended {
                break;
            }
        }
        assert!(ended, "it does not end");
    }
}

/// Waits until `fact` holds: what was asked late is taken back by a task.
async fn soon<Fut: Future<Output = bool>>(rig: &impl Rig, leaves: Leaves, fact: impl Fn() -> Fut) {
    for _ in 0..500 {
        rig.settle().await;
        if fact().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("somebody who left keeps others out: {leaves:?}");
}

pub(crate) async fn a_claim_that_is_dropped_at_any_await_keeps_nobody_out(rig: impl Rig) {
    at_every_await(&rig, async |leaves| {
        let name = leaves.name();
        let claim = leaves.within(rig.forebay().claim(&name, KEEP)).await;
        if claim.is_none() {
            soon(&rig, leaves, async || rig.forebay().claim(&name, KEEP).await.unwrap().is_claimed()).await;
        }
        claim
    })
    .await;
}

pub(crate) async fn a_request_that_is_dropped_at_any_await_keeps_nobody_out(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |leaves| {
        let order = leaves.name();
        let begun = leaves.within(ask(&payments, &order)).await;
        if begun.is_none() {
            soon(&rig, leaves, async || matches!(ask(&payments, &order).await, Begun::Run(_))).await;
        }
        begun
    })
    .await;
}

pub(crate) async fn a_wait_that_is_dropped_at_any_await_keeps_nobody_out(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |leaves| {
        let order = leaves.name();
        let execution = begin(&payments, &order).await;
        let (waiting, waited) = (payments.clone(), order.clone());
        let waits = tokio::spawn(async move {
            within_polls(leaves.polls, async {
                told(&waiting.begin_within(&waited, "12 EUR", SECOND).await.unwrap())
            })
            .await
        });
        rig.settle().await;
        assert!(execution.give_up().await.unwrap());
        let begun = waits.await.unwrap();
        if begun.is_none() {
            soon(&rig, leaves, async || matches!(ask(&payments, &order).await, Begun::Run(_))).await;
        }
        begun
    })
    .await;
}

pub(crate) async fn a_completion_that_is_dropped_at_any_await_is_kept(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |leaves| {
        let order = leaves.name();
        let execution = begin(&payments, &order).await;
        let completed = leaves.within(execution.complete(record("paid"))).await;
        soon(&rig, leaves, async || told(&ask(&payments, &order).await) == "paid").await;
        completed
    })
    .await;
}

pub(crate) async fn a_surrender_that_is_dropped_at_any_await_lets_the_next_run(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |leaves| {
        let order = leaves.name();
        let execution = begin(&payments, &order).await;
        let given_up = leaves.within(execution.give_up()).await;
        soon(&rig, leaves, async || matches!(ask(&payments, &order).await, Begun::Run(_))).await;
        given_up
    })
    .await;
}

pub(crate) async fn work_that_is_dropped_at_any_await_runs_once_at_most(rig: impl Rig) {
    let payments = payments(&rig);
    at_every_await(&rig, async |leaves| {
        let (order, runs) = (leaves.name(), AtomicUsize::new(0));
        let work = || {
            payments.run(&order, "12 EUR", async |_| {
                runs.fetch_add(1, SeqCst);
                tokio::task::yield_now().await;
                Ok::<_, Failure<()>>(record("paid"))
            })
        };
        let ran = leaves.within(work()).await;
        rig.settle().await;
        pass(&rig, LEASE).await;
        let again = work().await.unwrap();
        assert_eq!(runs.into_inner(), 1, "{again:?}, {leaves:?}");
        assert!(!matches!(again, Ran::Running { .. }), "{again:?}, {leaves:?}");
        ran
    })
    .await;
}
