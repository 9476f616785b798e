//! A payment is charged once, whatever its client does.

use std::time::Duration;

use forebay_rig::Redis;
use nix::sys::signal::Signal;
use tokio::time::sleep;

use crate::{
    answer::{Answer, statuses},
    program::{Program, alone, at_once, over},
    records::Records,
};

const ADA: &str = "demo-ada";

/// Sends a payment, and hangs up once `until` has come.
async fn hang_up(program: &Program, until: impl Future<Output = ()>) {
    tokio::select! {
        answer = program.pay(ADA, "k") => panic!("{answer:?} came first"),
        () = until => {}
    }
}

/// Sends a payment until it is neither being carried out nor unknown what becomes of it.
async fn insist(program: &Program) -> Answer {
    loop {
        let answer = program.pay(ADA, "k").await;
        if answer.status != 409 {
            return answer;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// The one answer that was given, and not given again.
fn first(answers: Vec<Answer>) -> Answer {
    answers.into_iter().find(|answer| answer.status == 201 && !answer.is_replayed()).unwrap()
}

// I5: of parallel first requests one is carried out.
#[tokio::test]
async fn a_hundred_payments_with_one_key_at_once_are_charged_once() {
    let records = Records::none();
    let program = alone(&records).run();
    let answers = at_once(100, async |_| program.pay(ADA, "k").await).await;
    let paid = statuses(&answers).iter().filter(|status| **status == 201).count();
    let running = statuses(&answers).iter().filter(|status| **status == 409).count();
    assert!(paid >= 1 && paid + running == 100, "{:?}", statuses(&answers));

    let first = first(answers);
    let again = program.pay(ADA, "k").await;
    assert!(again.is_replayed());
    assert_eq!(again.body, first.body);
    assert_eq!(records.count("charge").await, 1);
}

#[tokio::test]
async fn a_client_that_hangs_up_after_it_was_charged_learns_so_by_its_retry() {
    let records = Records::none();
    let program = alone(&records).bank_takes(1000).run();
    hang_up(&program, records.are_charged()).await;
    let again = insist(&program).await;
    assert_eq!((again.status.as_u16(), again.is_replayed()), (201, true));
    assert_eq!(records.count("charge").await, 1);
}

#[tokio::test]
async fn a_client_that_hangs_up_before_it_was_charged_is_charged_all_the_same() {
    let records = Records::none();
    let program = alone(&records).bank_takes(1000).run();
    hang_up(&program, sleep(Duration::from_millis(200))).await;
    assert_eq!(insist(&program).await.status, 201);
    assert_eq!(records.count("charge").await, 1);
}

#[tokio::test]
async fn a_second_instance_answers_what_the_first_has_answered() {
    let (redis, records) = (Redis::start(), Records::none());
    let programs = [over(&redis, &records).run(), over(&redis, &records).run()];
    let answers = at_once(20, async |n| programs[n % 2].pay(ADA, "k").await).await;
    let first = first(answers);
    for program in &programs {
        assert_eq!(program.pay(ADA, "k").await.body, first.body);
    }
    assert_eq!(records.count("charge").await, 1);
}

// I1: retries are not refused until the record ends; here the lease is 5 s. Whether the bank has charged, nobody knows.
#[tokio::test]
async fn a_payment_whose_instance_was_killed_is_not_charged_again() {
    let (redis, records) = (Redis::start(), Records::none());
    let killed = over(&redis, &records).bank_takes(2000).run();
    let other = over(&redis, &records).run();
    hang_up(&killed, records.are_charged()).await;
    killed.signal(Signal::SIGKILL);

    let running = other.pay(ADA, "k").await;
    assert!(running.status == 409 && (1..=5).contains(&running.retry_after()), "{running:?}");
    sleep(Duration::from_secs(6)).await;
    let refused = other.pay(ADA, "k").await;
    assert_eq!(refused.status, 409);
    assert!(refused.body["type"].as_str().unwrap().ends_with("/indeterminate"));
    assert_eq!(records.count("charge").await, 1);
}

// I8: the key of one user is nothing to another.
#[tokio::test]
async fn two_users_pay_each_for_themselves_with_the_same_key() {
    let records = Records::none();
    let program = alone(&records).run();
    for user in [ADA, "demo-bob"] {
        let paid = program.pay(user, "k").await;
        assert_eq!((paid.status.as_u16(), paid.is_replayed()), (201, false));
        assert_eq!(program.get(user, "/payments").await.as_array().unwrap().len(), 1);
    }
    assert_eq!(records.count("charge").await, 2);
}

#[tokio::test]
async fn another_payment_under_the_same_key_is_refused() {
    let records = Records::none();
    let program = alone(&records).run();
    assert_eq!(program.pay(ADA, "k").await.status, 201);
    assert_eq!(program.pay_cents(9900, ADA, Some("k")).await.status, 422);
    assert_eq!(records.count("charge").await, 1);
}

#[tokio::test]
async fn a_payment_that_was_refused_does_not_use_up_its_key() {
    let records = Records::none();
    let program = alone(&records).run();
    assert_eq!(program.pay_cents(0, ADA, Some("k")).await.status, 400);
    assert_eq!(program.pay(ADA, "k").await.status, 201);
    assert_eq!(records.count("charge").await, 1);
}

#[tokio::test]
async fn nobody_pays_without_an_api_key_and_an_idempotency_key() {
    let records = Records::none();
    let program = alone(&records).run();
    assert_eq!(program.pay("demo-eve", "k").await.status, 401);
    assert_eq!(program.pay_cents(1200, ADA, None).await.status, 400);
    assert_eq!(records.count("charge").await, 0);
}

#[tokio::test]
async fn without_the_redis_that_it_was_given_nothing_is_charged() {
    let (redis, records) = (Redis::start(), Records::none());
    let program = over(&redis, &records).run();
    redis.kill();
    let refused = program.pay(ADA, "k").await;
    assert_eq!((refused.status.as_u16(), refused.retry_after()), (503, 1));
    assert_eq!(records.count("charge").await, 0);
}
