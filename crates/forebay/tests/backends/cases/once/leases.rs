//! How long a name is held for somebody who may be gone.

use forebay::{
    Token,
    once::{Begun, Completed},
};

use super::{KEEP, LEASE, again, ask, begin, complete, pass, payments, told};
use crate::rig::{Rig, SECOND};

// I2: a record of somebody who was still running was taken by the next.
pub(crate) async fn a_lease_is_renewed_for_as_long_as_its_execution_is_held(rig: impl Rig) {
    let payments = again(&rig);
    let execution = begin(&payments, "order").await;
    for _ in 0..10 {
        pass(&rig, LEASE / 2).await;
        assert_eq!(told(&ask(&payments, "order").await), "running");
        assert!(!execution.is_lost());
    }
    assert_eq!(complete(execution, "paid").await, Completed::Stored);
}

// I1: after a time-out retries were refused until the record ended.
pub(crate) async fn an_execution_that_is_dropped_is_indeterminate_once_its_lease_has_ended(rig: impl Rig) {
    let payments = payments(&rig);
    drop(begin(&payments, "order").await);
    rig.settle().await;
    let Begun::Running { retry_after } = ask(&payments, "order").await else { panic!("it may be running") };
    pass(&rig, retry_after).await;
    for _ in 0..3 {
        assert_eq!(told(&ask(&payments, "order").await), "indeterminate");
        pass(&rig, LEASE).await;
    }
}

// I12: how long that takes is an option.
pub(crate) async fn what_may_run_again_runs_again_and_no_earlier(rig: impl Rig) {
    let payments = again(&rig);
    drop(begin(&payments, "order").await);
    pass(&rig, LEASE - SECOND / 2).await;
    assert_eq!(told(&ask(&payments, "order").await), "running");
    pass(&rig, SECOND / 2).await;
    let begun = futures::future::join_all((0..100).map(|_| ask(&payments, "order"))).await;
    assert_eq!(begun.iter().filter(|begun| told(begun) == "run").count(), 1);
    assert_eq!(begun.iter().filter(|begun| told(begun) == "running").count(), 99);
}

pub(crate) async fn what_runs_again_is_known_from_the_first_request_on(rig: impl Rig) {
    let payments = again(&rig);
    drop(begin(&payments, "order").await);
    pass(&rig, KEEP / 2).await;
    let second = begin(&payments, "order").await;
    assert_eq!(complete(second, "paid").await, Completed::Stored);
    pass(&rig, KEEP / 2 - SECOND).await;
    assert_eq!(told(&ask(&payments, "order").await), "paid");
    pass(&rig, SECOND * 2).await;
    assert_eq!(told(&ask(&payments, "order").await), "run");
}

pub(crate) async fn whoever_ran_first_is_told_that_it_has_lost(rig: impl Rig) {
    let (payments, token) = (again(&rig), Token::random());
    // Under a token, since an execution would be renewed.
    drop(payments.begin_as("order", "12 EUR", token).await.unwrap());
    pass(&rig, LEASE).await;
    let second = begin(&payments, "order").await;
    assert_eq!(payments.renew("order", token, LEASE).await.unwrap(), None);
    let third = payments.begin_as("order", "12 EUR", token).await.unwrap();
    assert_eq!(told(&third), "running");
    assert!(payments.give_up("order", second.token()).await.unwrap());
    let mut lost = Box::pin(second.lost());
    assert!(futures::poll!(&mut lost).is_pending());
    let _third = begin(&payments, "order").await;
    pass(&rig, LEASE / 2).await;
    assert!(futures::poll!(&mut lost).is_ready());
    assert!(second.is_lost());
    assert_eq!(complete(second, "paid twice").await, Completed::Lost);
}

pub(crate) async fn a_token_is_renewed_by_hand_and_only_while_it_runs(rig: impl Rig) {
    let payments = payments(&rig);
    let token = begin(&payments, "order").await.into_token();
    for _ in 0..3 {
        pass(&rig, LEASE * 2 / 3).await;
        assert_eq!(told(&ask(&payments, "order").await), "running");
        assert_eq!(payments.renew("order", token, LEASE).await.unwrap(), Some(LEASE));
    }
    pass(&rig, LEASE).await;
    assert_eq!(told(&ask(&payments, "order").await), "indeterminate");
    assert_eq!(payments.renew("order", token, LEASE * 2).await.unwrap(), Some(LEASE * 2));
    pass(&rig, LEASE).await;
    assert_eq!(told(&ask(&payments, "order").await), "running");
    assert_eq!(payments.renew("order", Token::random(), LEASE).await.unwrap(), None);
    assert_eq!(payments.renew("another", token, LEASE).await.unwrap(), None);
    let paid = payments.complete("order", token, super::record("paid")).await.unwrap();
    assert_eq!(paid, Completed::Stored);
    assert_eq!(payments.renew("order", token, LEASE).await.unwrap(), None);
}

pub(crate) async fn a_name_that_ends_while_it_runs_is_lost(rig: impl Rig) {
    let payments = payments(&rig);
    let execution = begin(&payments, "order").await;
    pass(&rig, KEEP - SECOND).await;
    assert!(!execution.is_lost() || rig.slack() > SECOND);
    pass(&rig, SECOND + SECOND / 100).await;
    assert!(execution.is_lost());
    let second = begin(&payments, "order").await;
    assert_eq!(complete(execution, "paid").await, Completed::Lost);
    assert_eq!(complete(second, "paid later").await, Completed::Stored);
    assert_eq!(told(&ask(&payments, "order").await), "paid later");
}
