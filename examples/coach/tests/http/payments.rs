//! A payment is charged once, whatever its client does.

use std::time::Duration;

use forebay::Forebay;
use forebay_rig::Redis;

use crate::{
    program::{Model, Start, at_once, statuses},
    records::{CARRIED_OUT, Records},
};

const CHARGES: &str = "SELECT count(*) FROM charge";

// I5: of parallel first requests one is carried out.
#[tokio::test]
async fn a_hundred_payments_with_one_key_at_once_are_charged_once() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let answers = at_once(100, async |_| coach.pay("runner-7", "k").await).await;
    let known = statuses(&answers).iter().all(|status| [201, 409].contains(status));
    assert!(known && statuses(&answers).contains(&201), "{:?}", statuses(&answers));
    let again = coach.pay("runner-7", "k").await;
    assert_eq!((again.status, again.is_replayed()), (201, true));
    assert_eq!((records.count(CHARGES).await, records.count(CARRIED_OUT).await), (1, 1));
}

#[tokio::test]
async fn another_payment_under_the_same_key_is_refused() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    assert_eq!(coach.pay("runner-7", "k").await.status, 201);
    assert_eq!(coach.try_pay("runner-7", "k", "7", 9900).await.unwrap().status, 422);
}

// I8: the key of one user is nothing to another.
#[tokio::test]
async fn two_runners_pay_each_for_themselves_with_the_same_key() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    for user in ["runner-7", "runner-8"] {
        let paid = coach.pay(user, "k").await;
        assert_eq!((paid.status, paid.is_replayed()), (201, false));
    }
    assert_eq!(records.count(CHARGES).await, 2);
}

#[tokio::test]
async fn an_order_is_charged_once_although_its_key_was_forgotten() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let (first, second) = (coach.pay("runner-7", "k").await, coach.pay("runner-7", "another").await);
    assert_eq!((second.status, second.body), (201, first.body));
    assert_eq!(coach.try_pay("runner-7", "a third", "7", 9900).await.unwrap().status, 409);
    // The bank was told by the first alone.
    assert_eq!((records.count(CHARGES).await, records.count(CARRIED_OUT).await), (1, 1));
}

#[tokio::test]
async fn an_order_that_is_paid_under_many_keys_at_once_is_carried_out_once() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let answers = at_once(20, async |n| coach.pay("runner-7", &format!("k-{n}")).await).await;
    assert!(statuses(&answers).iter().all(|status| *status == 201), "{answers:?}");
    assert_eq!((records.count(CHARGES).await, records.count(CARRIED_OUT).await), (1, 1));
}

#[tokio::test]
async fn a_payment_that_was_kept_from_its_order_does_not_use_up_its_key() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let coach = Start::over(&redis, &records, &model).run();
    let other = Forebay::builder("coach").redis(redis.url()).build().await.unwrap();
    let payment = other.lock("payment:runner-7:7").acquire().await.unwrap();
    let kept = coach.pay("runner-7", "k").await;
    assert!(kept.status == 409 && kept.text("detail").contains("another key"), "{kept:?}");
    payment.release().await.unwrap();
    let paid = coach.pay("runner-7", "k").await;
    assert_eq!((paid.status, paid.is_replayed()), (201, false));
    other.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn a_payment_that_the_database_did_not_let_begin_does_not_use_up_its_key() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    records.change("ALTER TABLE charge RENAME TO away").await;
    assert_eq!(coach.pay("runner-7", "k").await.status, 500);
    records.change("ALTER TABLE away RENAME TO charge").await;
    let paid = coach.pay("runner-7", "k").await;
    assert_eq!((paid.status, paid.is_replayed()), (201, false));
    assert_eq!(records.count(CARRIED_OUT).await, 1);
}

#[tokio::test]
async fn a_payment_that_was_refused_does_not_use_up_its_key() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    assert_eq!(coach.try_pay("runner-7", "k", "7", 0).await.unwrap().status, 400);
    assert_eq!(coach.pay("runner-7", "k").await.status, 201);
}

#[tokio::test]
async fn an_order_has_a_name_and_no_long_one() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    for order in ["", " ", &"7".repeat(10_000)] {
        let refused = coach.try_pay("runner-7", "k", order, 1200).await.unwrap();
        assert!(refused.status == 400 && refused.text("detail").contains("order"), "{refused:?}");
    }
    assert_eq!(records.count(CHARGES).await, 0);
}

#[tokio::test]
async fn nobody_pays_without_an_idempotency_key() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let order = serde_json::json!({ "order": "7", "cents": 1200 });
    let call = coach.call(reqwest::Method::POST, "/payments", "runner-7", &order);
    assert_eq!(crate::answer::Answer::to(call).await.unwrap().status, 400);
    assert_eq!(records.count(CHARGES).await, 0);
}
