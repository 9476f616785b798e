//! Who runs, and what the others are told.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use forebay::{
    Token,
    once::{Begun, Completed, Failure, Ran},
};

use super::{KEEP, ask, begin, complete, pass, payments, record, told};
use crate::rig::{Rig, SECOND, at_once};

// I5: two first requests at a time both run.
pub(crate) async fn of_a_hundred_who_begin_one_runs(rig: impl Rig) {
    let payments = payments(&rig);
    let begun = futures::future::join_all((0..100).map(|_| ask(&payments, "order"))).await;
    let words: Vec<_> = begun.iter().map(told).collect();
    assert_eq!(words.iter().filter(|word| *word == "run").count(), 1);
    assert_eq!(words.iter().filter(|word| *word == "running").count(), 99);
}

pub(crate) async fn what_was_brought_is_handed_out_to_all_who_ask(rig: impl Rig) {
    let payments = payments(&rig);
    let execution = begin(&payments, "order").await;
    let Begun::Running { retry_after } = ask(&payments, "order").await else { panic!("somebody runs") };
    assert!(!retry_after.is_zero() && retry_after <= super::LEASE);
    assert_eq!(complete(execution, "paid").await, Completed::Stored);
    for _ in 0..3 {
        assert_eq!(told(&ask(&payments, "order").await), "paid");
    }
    assert_eq!(told(&ask(&payments, "another").await), "run");
}

pub(crate) async fn another_fingerprint_is_told_so_at_every_stage(rig: impl Rig) {
    let payments = payments(&rig);
    let other = async || told(&payments.begin("order", "13 EUR").await.unwrap());
    let execution = begin(&payments, "order").await;
    assert_eq!(other().await, "mismatch");
    let token = execution.into_token();
    pass(&rig, super::LEASE).await;
    assert_eq!(told(&ask(&payments, "order").await), "indeterminate");
    assert_eq!(other().await, "mismatch");
    assert_eq!(payments.complete("order", token, record("paid")).await.unwrap(), Completed::Stored);
    assert_eq!(other().await, "mismatch");
    assert_eq!(told(&ask(&payments, "order").await), "paid");
}

pub(crate) async fn a_name_is_known_from_the_first_request_on_and_no_longer(rig: impl Rig) {
    let payments = payments(&rig);
    let execution = begin(&payments, "order").await;
    pass(&rig, SECOND * 20).await;
    assert_eq!(complete(execution, "paid").await, Completed::Stored);
    pass(&rig, KEEP - SECOND * 21).await;
    assert_eq!(told(&ask(&payments, "order").await), "paid");
    pass(&rig, SECOND * 2).await;
    assert_eq!(told(&ask(&payments, "order").await), "run");
}

pub(crate) async fn whoever_asks_again_under_its_token_runs_still(rig: impl Rig) {
    let (payments, token) = (payments(&rig), Token::random());
    let first = payments.begin_as("order", "12 EUR", token).await.unwrap();
    let second = payments.begin_as("order", "12 EUR", token).await.unwrap();
    assert_eq!((told(&first), told(&second)), ("run".into(), "run".into()));
    assert_eq!(told(&payments.begin_as("order", "13 EUR", token).await.unwrap()), "mismatch");
    assert_eq!(told(&ask(&payments, "order").await), "running");
    let Begun::Run(second) = second else { unreachable!() };
    assert_eq!(second.token(), token);
    assert_eq!(complete(second, "paid").await, Completed::Stored);
    assert_eq!(told(&payments.begin_as("order", "12 EUR", token).await.unwrap()), "paid");
}

pub(crate) async fn who_waits_is_told_what_was_brought(rig: impl Rig) {
    let payments = payments(&rig);
    let execution = begin(&payments, "order").await;
    let waiting = payments.clone();
    let waits =
        tokio::spawn(async move { told(&waiting.begin_within("order", "12 EUR", SECOND).await.unwrap()) });
    rig.settle().await;
    assert!(!waits.is_finished());
    assert_eq!(complete(execution, "paid").await, Completed::Stored);
    assert_eq!(at_once(&rig, waits).await, "paid");
}

pub(crate) async fn who_waits_in_vain_is_told_so_in_time(rig: impl Rig) {
    let payments = payments(&rig);
    let _execution = begin(&payments, "order").await;
    let waiting = payments.clone();
    let waits =
        tokio::spawn(async move { told(&waiting.begin_within("order", "12 EUR", SECOND).await.unwrap()) });
    pass(&rig, SECOND / 2).await;
    assert!(!waits.is_finished());
    pass(&rig, SECOND).await;
    assert_eq!(at_once(&rig, waits).await, "running");
}

pub(crate) async fn work_runs_once(rig: impl Rig) {
    let (payments, runs) = (payments(&rig), AtomicUsize::new(0));
    for again in [false, true, true] {
        let ran = payments.run("order", "12 EUR", async |execution| {
            assert!(!execution.is_lost());
            runs.fetch_add(1, SeqCst);
            Ok::<_, Failure<io::Error>>(record("paid"))
        });
        let Ran::Done { record, replayed } = ran.await.unwrap() else { panic!("nothing stands against it") };
        assert_eq!((&record.bytes()[..], replayed), (&b"paid"[..], again));
    }
    assert_eq!(runs.into_inner(), 1);
    // Also in a task of its own.
    let other = tokio::spawn(async move {
        payments.run("other", "", async |_| Ok::<_, Failure<io::Error>>(record("paid"))).await
    });
    assert!(matches!(other.await.unwrap().unwrap(), Ran::Done { replayed: false, .. }));
}

pub(crate) async fn work_that_fails_says_whether_anything_was_done(rig: impl Rig) {
    let payments = payments(&rig);
    let undone = payments.run("order", "12 EUR", async |_| Err(Failure::Undone("no money")));
    assert!(matches!(undone.await.unwrap(), Ran::Failed("no money")));
    let unknown = payments.run("order", "12 EUR", async |_| Err("no answer")?);
    assert!(matches!(unknown.await.unwrap(), Ran::Failed("no answer")));
    let third = async || payments.run("order", "12 EUR", async |_| Err(Failure::Unknown(()))).await.unwrap();
    assert!(matches!(third().await, Ran::Running { retry_after } if retry_after > Duration::ZERO));
    pass(&rig, super::LEASE).await;
    assert!(matches!(third().await, Ran::Indeterminate));
}

pub(crate) async fn claims_and_executions_share_nothing(rig: impl Rig) {
    let payments = payments(&rig);
    assert!(rig.forebay().claim("order", KEEP).await.unwrap().is_claimed());
    let execution = begin(&payments, "order").await;
    assert_eq!(complete(execution, "paid").await, Completed::Stored);
    assert!(!rig.forebay().claim("order", KEEP).await.unwrap().is_claimed());
}
