//! Which requests are the same one.

use super::shop::{Shop, seen};

// I8: whoever is anonymous shares keys with everybody else, and is given their answers.
#[tokio::test]
async fn keys_of_two_users_are_two_keys() {
    let shop = Shop::new().await;
    let first = shop.post("/payments", "k").await;
    let other = seen(shop.anonymous("/payments", "k").header("user", "43").body("9 EUR")).await;
    assert_eq!((other.status, other.is_replayed()), (201, false));
    assert_eq!(other.body, "payment 2: 9 EUR");
    assert_eq!(shop.post("/payments", "k").await.body, first.body);
}

// I8: as above.
#[tokio::test]
async fn nobody_in_particular_has_no_keys_unless_that_is_allowed() {
    let shop = Shop::new().await;
    let refused = seen(shop.anonymous("/payments", "k")).await;
    assert_eq!(refused.problem(), (400, "idempotency-anonymous".into()));
    assert_eq!(shop.runs(), 0);
    assert_eq!(
        seen(shop.anonymous("/payments", "")).await.status,
        201,
        "without a key there is nothing to keep"
    );

    let shop = Shop::with(forebay::http::IdempotencyLayer::allow_anonymous).await;
    for replayed in [false, true] {
        let answer = seen(shop.anonymous("/payments", "k")).await;
        assert_eq!((answer.status, answer.is_replayed()), (201, replayed));
    }
}

#[tokio::test]
async fn keys_of_two_routes_are_two_keys() {
    let shop = Shop::new().await;
    for path in ["/payments", "/payments/1", "/answers/200", "/v1/payments", "/v1/payments/1"] {
        assert!(!shop.post(path, "k").await.is_replayed(), "{path}");
        assert!(shop.post(path, "k").await.is_replayed(), "{path}");
    }
    assert_eq!(shop.runs(), 5);
}

#[tokio::test]
async fn a_key_that_is_used_for_something_else_is_refused() {
    let shop = Shop::new().await;
    shop.post("/payments/1", "k").await;
    let others = [
        shop.request("/payments/1", "k").body("13 EUR"),
        shop.request("/payments/1", "k").body(""),
        shop.request("/payments/1", "k").header("content-type", "text/plain"),
        shop.request("/payments/1?fast=1", "k"),
        shop.request("/payments/2", "k"),
    ];
    for other in others {
        assert_eq!(seen(other).await.problem(), (422, "idempotency-key-reused".into()));
    }
    assert!(shop.post("/payments/1", "k").await.is_replayed());
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn a_key_is_the_same_however_it_is_quoted_and_no_other_text_is_one() {
    let shop = Shop::new().await;
    assert!(!shop.post("/payments", "\"8e03978e\"").await.is_replayed());
    assert!(shop.post("/payments", "8e03978e").await.is_replayed());
    for text in ["\"\"", "a b", "a, b", "\"a", &"k".repeat(256)] {
        let refused = shop.post("/payments", text).await;
        assert_eq!(refused.problem(), (400, "idempotency-key-invalid".into()), "{text}");
    }
    let twice = shop.request("/payments", "a").header("idempotency-key", "b");
    assert_eq!(seen(twice).await.problem(), (400, "idempotency-key-invalid".into()));
    assert_eq!(shop.runs(), 1);
}
