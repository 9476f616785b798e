//! What clients are told while Redis cannot be asked.

use std::net::TcpListener;

use forebay::Forebay;

use super::shop::Shop;

async fn without_redis() -> Forebay {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    Forebay::builder("shop").redis(format!("redis://{nobody}")).build().await.unwrap()
}

#[tokio::test]
async fn without_redis_nothing_is_paid_unless_there_is_no_key() {
    let forebay = without_redis().await;
    let payments = forebay.idempotency().build().unwrap();
    let shop = Shop::over(forebay, payments, |layer| layer).await;
    for _ in 0..3 {
        let refused = shop.post("/payments", "k").await;
        assert_eq!(refused.problem(), (503, "redis-unavailable".into()));
        assert_eq!(refused.header("retry-after"), "1");
    }
    assert_eq!(shop.runs(), 0);
    assert_eq!(shop.post("/payments", "").await.status, 201);
}

#[tokio::test]
async fn without_redis_requests_pass_where_that_is_asked_for() {
    let forebay = without_redis().await;
    let payments = forebay.idempotency().build().unwrap();
    let shop = Shop::over(forebay, payments, forebay::http::IdempotencyLayer::unprotected_on_outage).await;
    for run in 1..=3 {
        assert_eq!(shop.post("/payments", "k").await.body, format!("payment {run}: 12 EUR"));
    }
}
