//! Which answers are kept, and what of them.

use super::shop::{Shop, seen};

#[tokio::test]
async fn what_describes_an_answer_is_handed_out_again_and_no_cookie() {
    let shop = Shop::new().await;
    let first = shop.post("/payments", "k").await;
    assert_eq!((first.header("set-cookie"), first.header("x-own")), ("session=secret", "own"));
    let again = shop.post("/payments", "k").await;
    for name in ["location", "content-type", "etag", "content-length"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
        assert!(!again.header(name).is_empty(), "{name}");
    }
    assert_eq!((again.header("set-cookie"), again.header("x-own")), ("", ""));
}

#[tokio::test]
async fn a_header_that_is_asked_for_is_handed_out_again() {
    let shop = Shop::with(|layer| layer.replay_header(http::HeaderName::from_static("x-own"))).await;
    shop.post("/payments", "k").await;
    assert_eq!(shop.post("/payments", "k").await.header("x-own"), "own");
}

#[tokio::test]
#[should_panic(expected = "never handed out again")]
async fn a_cookie_cannot_be_asked_for() {
    Shop::with(|layer| layer.replay_header(http::header::SET_COOKIE)).await;
}

#[tokio::test]
async fn a_refusal_is_not_kept_and_everything_else_is() {
    let shop = Shop::new().await;
    let mut runs = 0;
    for (statuses, kept) in [
        (&[400, 401, 403, 404, 405, 412, 413, 415, 422, 428][..], false),
        (&[200, 201, 202, 204, 303, 402, 409, 410, 429, 500, 502, 503, 504], true),
    ] {
        for status in statuses {
            let path = format!("/answers/{status}");
            for again in [false, true] {
                let answer = shop.post(&path, &format!("k{status}")).await;
                assert_eq!((answer.status, answer.is_replayed()), (*status, kept && again));
                runs += usize::from(!(kept && again));
            }
        }
    }
    assert_eq!(shop.runs(), runs);
}

#[tokio::test]
async fn a_handler_may_say_that_it_has_done_something_or_nothing() {
    let shop = Shop::new().await;
    for (path, effect, kept) in [("/answers/400", "done", true), ("/answers/200", "none", false)] {
        for again in [false, true] {
            let answer = seen(shop.request(path, "k").header("effect", effect)).await;
            assert_eq!(answer.is_replayed(), kept && again, "{path} {effect}");
        }
    }
}

// What nobody can know is not tried again; what is corrected is served.
#[tokio::test]
async fn after_a_refusal_a_corrected_request_is_carried_out() {
    let shop = Shop::new().await;
    assert_eq!(shop.post("/answers/422", "k").await.status, 422);
    let corrected = seen(shop.request("/answers/422", "k").header("effect", "done").body("other")).await;
    assert_eq!((corrected.status, shop.runs()), (422, 2));
}
