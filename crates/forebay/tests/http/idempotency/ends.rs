//! Handlers that do not end as they should.

use std::time::Duration;

use forebay::{
    Forebay,
    once::{Begun, OnIndeterminate},
};
use forebay_rig::Redis;
use tokio::runtime::Runtime;

use super::shop::{Seen, Shop, until};

const LEASE: Duration = Duration::from_millis(300);

async fn over(redis: &Redis, policy: OnIndeterminate) -> Shop {
    let forebay = Forebay::builder("shop").redis(redis.url()).redis_budget(Duration::from_secs(1));
    let forebay = forebay.build().await.unwrap();
    let payments = forebay.idempotency().lease(LEASE).on_indeterminate(policy).build().unwrap();
    Shop::over(forebay, payments, |layer| layer).await
}

/// What the client is told in the end that tries again.
async fn in_the_end(shop: &Shop, path: &str) -> Seen {
    loop {
        let answer = shop.post(path, "k").await;
        if answer.header("retry-after").is_empty() {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A process that ends while somebody pays: nothing in it has a chance to say so.
fn crash(redis: &Redis) {
    let process = Runtime::new().unwrap();
    let shop = process.block_on(async {
        let shop = over(redis, OnIndeterminate::Refuse).await;
        shop.close();
        tokio::spawn(shop.request("/payments", "k").send());
        until(|| shop.runs() == 1).await;
        shop
    });
    process.shutdown_background();
    std::mem::forget(shop);
}

// I1: after a time-out all retries were refused until the record ended.
#[test]
fn after_a_crash_nobody_is_told_that_it_was_not_paid() {
    let redis = Redis::start();
    crash(&redis);
    Runtime::new().unwrap().block_on(async {
        let shop = over(&redis, OnIndeterminate::Refuse).await;
        let answer = in_the_end(&shop, "/payments").await;
        assert_eq!((answer.problem(), shop.runs()), ((409, "indeterminate".into()), 0));
    });
}

#[test]
fn after_a_crash_what_may_run_again_runs_again() {
    let redis = Redis::start();
    crash(&redis);
    Runtime::new().unwrap().block_on(async {
        let shop = over(&redis, OnIndeterminate::Rerun).await;
        let answer = in_the_end(&shop, "/payments").await;
        assert_eq!((answer.status, answer.is_replayed(), shop.runs()), (201, false, 1));
        assert!(shop.post("/payments", "k").await.is_replayed());
    });
}

// I2: a request that takes longer than its lease was carried out again.
#[tokio::test]
async fn a_handler_may_take_longer_than_its_lease() {
    let redis = Redis::start();
    let shop = over(&redis, OnIndeterminate::Rerun).await;
    shop.close();
    let sent = tokio::spawn(shop.request("/payments", "k").send());
    until(|| shop.runs() == 1).await;
    let slow = tokio::time::sleep(LEASE * 3);
    tokio::pin!(slow);
    while futures::poll!(&mut slow).is_pending() {
        assert_eq!(shop.post("/payments", "k").await.problem(), (409, "running".into()));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    shop.desk.open.add_permits(1);
    assert_eq!((sent.await.unwrap().unwrap().status().as_u16(), shop.runs()), (201, 1));
}

#[tokio::test]
async fn a_handler_that_panics_is_indeterminate() {
    let redis = Redis::start();
    let shop = over(&redis, OnIndeterminate::Refuse).await;
    assert!(shop.request("/panics", "k").send().await.is_err(), "the connection ends, as without the layer");
    assert_eq!(in_the_end(&shop, "/panics").await.problem(), (409, "indeterminate".into()));
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn a_shutdown_waits_for_what_is_being_paid() {
    let redis = Redis::start();
    let shop = over(&redis, OnIndeterminate::Refuse).await;
    shop.close();
    let sent = tokio::spawn(shop.request("/payments", "k").send());
    until(|| shop.runs() == 1).await;
    let (forebay, other) = (shop.forebay.clone(), over(&redis, OnIndeterminate::Refuse).await);
    let ending = tokio::spawn(async move { forebay.shutdown(super::shop::PATIENCE).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(shop.post("/payments", "new").await.problem(), (503, "redis-unavailable".into()));
    shop.desk.open.add_permits(1);
    assert_eq!(sent.await.unwrap().unwrap().status(), 201);
    assert!(ending.await.unwrap());
    assert!(other.post("/payments", "k").await.is_replayed());
}

// A record of another version, or of somebody else.
#[tokio::test]
async fn a_record_that_is_no_answer_is_never_carried_out_again() {
    let redis = Redis::start();
    let shop = over(&redis, OnIndeterminate::Rerun).await;
    shop.post("/payments", "k").await;
    let keys = redis.call(&["KEYS", "idem:shop:*"]);
    let key = keys.lines().next().unwrap();
    let value = redis.call(&["GET", key]);
    for (spoilt, told) in [
        (value[..66].to_owned() + "\u{7f}", "answer-not-kept"),
        ("2".to_owned() + &value[1..], "indeterminate"),
        ("nonsense".to_owned(), "indeterminate"),
        (String::new(), "indeterminate"),
    ] {
        redis.call(&["SET", key, &spoilt, "PX", "60000"]);
        assert_eq!(shop.post("/payments", "k").await.problem(), (409, told.into()), "{spoilt:?}");
    }
    assert_eq!(shop.runs(), 1);
    let other = shop.forebay.idempotency().build().unwrap().begin("anything", "").await.unwrap();
    assert!(matches!(other, Begun::Run(_)));
}
