//! How often a request is carried out.

use std::time::Duration;

use forebay::Forebay;
use forebay_rig::Redis;
use futures::future::join_all;

use super::shop::{Seen, Shop, read, seen, until};

/// A shop over Redis, with room for a busy machine.
async fn over(redis: &Redis) -> Shop {
    let forebay = Forebay::builder("shop").redis(redis.url()).redis_budget(Duration::from_secs(1));
    let forebay = forebay.build().await.unwrap();
    let payments = forebay.idempotency().build().unwrap();
    Shop::over(forebay, payments, |layer| layer).await
}

/// A hundred requests at a time, and what became of them.
async fn a_hundred(shop: &Shop) -> Vec<Seen> {
    join_all((0..100).map(|_| shop.post("/payments", "k"))).await
}

// I5: two first requests at a time both run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_requests_with_one_key_are_one_payment() {
    let redis = Redis::start();
    for shop in [Shop::new().await, over(&redis).await] {
        let (first, others): (Vec<_>, Vec<_>) =
            a_hundred(&shop).await.into_iter().partition(|seen| seen.status == 201 && !seen.is_replayed());
        assert_eq!((first.len(), shop.runs()), (1, 1));
        for seen in others {
            if seen.is_replayed() {
                assert_eq!((seen.status, &seen.body), (201, &first[0].body));
            } else {
                assert_eq!(seen.problem(), (409, "running".into()));
                let pause: u64 = seen.header("retry-after").parse().unwrap();
                assert!((1..=5).contains(&pause), "{pause}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_requests_that_wait_are_one_payment_and_99_replays() {
    let shop = Shop::with(|layer| layer.wait(super::shop::PATIENCE)).await;
    let seen = a_hundred(&shop).await;
    assert_eq!(shop.runs(), 1);
    assert_eq!(seen.iter().filter(|seen| seen.is_replayed()).count(), 99);
    assert!(seen.iter().all(|other| other.body == seen[0].body && other.status == 201));
}

#[tokio::test]
async fn what_is_sent_again_is_answered_as_the_first_time() {
    let shop = Shop::new().await;
    let first = shop.post("/payments", "k").await;
    assert_eq!((first.status, first.body.as_str()), (201, "payment 1: 12 EUR"));
    for _ in 0..3 {
        let again = shop.post("/payments", "k").await;
        assert!(again.is_replayed());
        assert_eq!((again.status, &again.body), (first.status, &first.body));
    }
    assert_eq!(shop.runs(), 1);
    assert_eq!(shop.post("/payments", "other").await.body, "payment 2: 12 EUR");
}

// A client that goes away after the side effect does not free the key.
#[tokio::test]
async fn a_client_that_goes_away_has_paid_all_the_same() {
    let shop = Shop::new().await;
    shop.close();
    let sent = tokio::spawn(shop.request("/payments", "k").send());
    until(|| shop.runs() == 1).await;
    sent.abort();
    assert!(sent.await.unwrap_err().is_cancelled());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(shop.post("/payments", "k").await.problem(), (409, "running".into()));
    shop.desk.open.add_permits(1);
    let mut again = shop.post("/payments", "k").await;
    while again.status == 409 {
        again = shop.post("/payments", "k").await;
    }
    assert!(again.is_replayed());
    assert_eq!((again.body.as_str(), shop.runs()), ("payment 1: 12 EUR", 1));
}

#[tokio::test]
async fn what_has_no_key_or_is_idempotent_by_itself_is_carried_out_each_time() {
    let shop = Shop::new().await;
    for _ in 0..2 {
        assert_eq!(shop.post("/payments", "").await.status, 201);
        for method in ["PUT", "GET"] {
            let mut request = shop.request("/payments", "k").build().unwrap();
            *request.method_mut() = method.parse().unwrap();
            let answer = read(reqwest::Client::new().execute(request).await.unwrap()).await;
            assert_eq!((answer.status, answer.is_replayed()), (201, false), "{method}");
        }
    }
    assert_eq!(shop.runs(), 6);
}

#[tokio::test]
async fn a_route_that_needs_a_key_says_so() {
    let shop = Shop::with(forebay::http::IdempotencyLayer::required).await;
    assert_eq!(shop.post("/payments", "").await.problem(), (400, "idempotency-key-missing".into()));
    assert_eq!(shop.runs(), 0);
    assert_eq!(shop.post("/payments", "k").await.status, 201);
    let mut request = shop.request("/payments", "").build().unwrap();
    *request.method_mut() = http::Method::GET;
    assert_eq!(read(reqwest::Client::new().execute(request).await.unwrap()).await.status, 201);
}

#[tokio::test]
async fn other_methods_are_guarded_where_that_is_asked_for() {
    let shop = Shop::with(|layer| layer.methods([http::Method::PUT])).await;
    for _ in 0..2 {
        let mut request = shop.request("/payments", "k").build().unwrap();
        *request.method_mut() = http::Method::PUT;
        assert_eq!(read(reqwest::Client::new().execute(request).await.unwrap()).await.status, 201);
        assert_eq!(seen(shop.request("/payments", "k")).await.status, 201);
    }
    assert_eq!(shop.runs(), 3);
}
