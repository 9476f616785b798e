//! How what runs once ends, and whose end counts.

use std::time::Duration;

use forebay::{
    ErrorKind, Token,
    once::{Begun, Completed, Execution, Idempotency, Record},
};

use super::{LEASE, again, ask, begin, complete, pass, payments, record, told};
use crate::rig::Rig;

/// Two who run under one name: the first has come back from a long pause, the second runs in its place.
async fn both(rig: &impl Rig, payments: &Idempotency) -> (Token, Execution) {
    let first = begin(payments, "order").await.into_token();
    pass(rig, LEASE).await;
    (first, begin(payments, "order").await)
}

// I6, I11: of a GET and a SET, or a SETEX, the later one counts whoever sends it.
pub(crate) async fn whoever_ran_first_cannot_overwrite_what_the_second_brings(rig: impl Rig) {
    let payments = again(&rig);
    let (first, second) = both(&rig, &payments).await;
    assert_eq!(payments.complete("order", first, record("first")).await.unwrap(), Completed::Lost);
    assert_eq!(told(&ask(&payments, "order").await), "running");
    assert_eq!(complete(second, "second").await, Completed::Stored);
    assert_eq!(payments.complete("order", first, record("first")).await.unwrap(), Completed::Lost);
    assert!(!payments.give_up("order", first).await.unwrap());
    assert_eq!(told(&ask(&payments, "order").await), "second");
}

pub(crate) async fn a_completion_after_its_lease_counts_if_nobody_has_run(rig: impl Rig) {
    for payments in [payments(&rig), again(&rig)] {
        let order = format!("{payments:?} {}", Token::random());
        let token = begin(&payments, &order).await.into_token();
        pass(&rig, LEASE * 2).await;
        assert_eq!(payments.complete(&order, token, record("paid")).await.unwrap(), Completed::Stored);
        assert_eq!(told(&ask(&payments, &order).await), "paid");
    }
}

pub(crate) async fn a_second_completion_changes_nothing_and_is_told_whether_it_is_the_same(rig: impl Rig) {
    let payments = payments(&rig);
    let token = begin(&payments, "order").await.into_token();
    let same = [("paid", Completed::Stored), ("paid again", Completed::Conflict), ("", Completed::Conflict)];
    for (text, expected) in same.into_iter().cycle().take(6) {
        assert_eq!(payments.complete("order", token, record(text)).await.unwrap(), expected);
        assert_eq!(told(&ask(&payments, "order").await), "paid");
    }
    let omitted = payments.complete("order", token, Record::omitted()).await.unwrap();
    assert_eq!(omitted, Completed::Conflict);
}

// Who was told that the record is too large must not be told later that a smaller one is kept.
pub(crate) async fn what_was_done_without_a_record_gets_none_later(rig: impl Rig) {
    let payments = payments(&rig);
    let token = begin(&payments, "order").await.into_token();
    for (record, expected) in [
        (Record::omitted(), Completed::WithoutRecord),
        (record("paid"), Completed::Conflict),
        (record(""), Completed::Conflict),
        (Record::omitted(), Completed::WithoutRecord),
    ] {
        assert_eq!(payments.complete("order", token, record).await.unwrap(), expected);
        assert!(matches!(ask(&payments, "order").await, Begun::Done(record) if record.is_omitted()));
    }
}

pub(crate) async fn a_completion_by_token_is_as_good_as_by_its_execution(rig: impl Rig) {
    let payments = payments(&rig);
    let execution = begin(&payments, "order").await;
    let token = execution.token();
    assert_eq!(payments.complete("order", token, record("paid")).await.unwrap(), Completed::Stored);
    assert_eq!(complete(execution, "other").await, Completed::Conflict);
    assert_eq!(told(&ask(&payments, "order").await), "paid");
}

pub(crate) async fn what_is_done_is_not_given_up_any_more(rig: impl Rig) {
    let payments = payments(&rig);
    let execution = begin(&payments, "order").await;
    let token = execution.token();
    assert_eq!(complete(execution, "paid").await, Completed::Stored);
    assert!(!payments.give_up("order", token).await.unwrap());
    assert_eq!(told(&ask(&payments, "order").await), "paid");
}

pub(crate) async fn what_is_given_up_was_never_begun(rig: impl Rig) {
    let payments = payments(&rig);
    assert!(begin(&payments, "order").await.give_up().await.unwrap());
    let execution = payments.begin("order", "13 EUR").await.unwrap();
    assert_eq!(told(&execution), "run");
}

// What the one before has done, or not, nobody knows still.
pub(crate) async fn what_ran_again_and_is_given_up_stays_indeterminate(rig: impl Rig) {
    let (asking, payments) = (payments(&rig), again(&rig));
    let (first, second) = both(&rig, &payments).await;
    assert!(second.give_up().await.unwrap());
    assert_eq!(told(&ask(&asking, "order").await), "indeterminate");
    assert_eq!(payments.complete("order", first, record("first")).await.unwrap(), Completed::Lost);
    assert_eq!(told(&ask(&payments, "order").await), "run");
}

pub(crate) async fn a_stranger_neither_completes_nor_gives_up(rig: impl Rig) {
    let (payments, stranger) = (payments(&rig), Token::random());
    let tries = async || {
        let completed = payments.complete("order", stranger, record("theirs")).await.unwrap();
        assert_eq!(completed, Completed::Lost);
        assert!(!payments.give_up("order", stranger).await.unwrap());
    };
    tries().await;
    let execution = begin(&payments, "order").await;
    tries().await;
    assert_eq!(complete(execution, "ours").await, Completed::Stored);
    tries().await;
    assert_eq!(told(&ask(&payments, "order").await), "ours");
}

pub(crate) async fn nothing_begins_after_shutdown(rig: impl Rig) {
    let payments = payments(&rig);
    let execution = begin(&payments, "order").await;
    let (forebay, running) = (rig.forebay().clone(), payments.clone());
    let ending = tokio::spawn(async move { forebay.shutdown(Duration::from_secs(10)).await });
    rig.settle().await;
    assert_eq!(running.begin("other", "").await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(!ending.is_finished(), "somebody runs still");
    assert_eq!(complete(execution, "paid").await, Completed::Stored);
    assert!(crate::rig::at_once(&rig, ending).await);
}
