//! What a client is told whose request does not pass.

use std::{net::TcpListener, time::Duration};

use axum::response::Response;
use forebay::{
    Forebay,
    http::{HeaderStyle, RateLimitLayer},
    limiter::{Mode, OnOutage, Tiers},
};
use serde_json::{Value, json};

use crate::stage::{PEER, Stage, ask, header, left, limited, text};

async fn problem(answer: Response) -> Value {
    assert_eq!(header(answer.headers(), "content-type"), "application/problem+json");
    assert_eq!(header(answer.headers(), "cache-control"), "no-store");
    serde_json::from_str(&text(answer).await).unwrap()
}

#[tokio::test]
async fn a_limit_that_is_reached_is_429_with_when_to_come_back() {
    let stage = Stage::new().await;
    let tiers = Tiers::new().tier("free", ["1/minute", "100/hour"]).unwrap();
    let limiter = stage.forebay.limiter("api", tiers).mode(Mode::Log).build().unwrap();
    let router = limited(RateLimitLayer::new(limiter).headers(HeaderStyle::Draft11));
    ask(&router).await;
    stage.time.advance(Duration::from_millis(17_500));

    let answer = ask(&router).await;
    assert_eq!(answer.status(), 429);
    assert_eq!(header(answer.headers(), "retry-after"), "43");
    assert_eq!(header(answer.headers(), "x-ratelimit-remaining"), "0");
    let limits = header(answer.headers(), "ratelimit").to_owned();
    assert_eq!(limits, "\"api-minute\";r=0;t=43, \"api-hour\";r=99;t=3583");
    let expected = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Quota Exceeded",
        "status": 429,
        "detail": "the limit of 1 in 60s is reached; come back in 43 s",
        "retry_after": 43,
        "violated-policies": ["api-minute"],
    });
    assert_eq!(problem(answer).await, expected);

    stage.time.advance(Duration::from_secs(43));
    assert_eq!(ask(&router).await.status(), 200, "it is true");
}

#[tokio::test]
async fn a_draft_and_retry_after_do_not_contradict_each_other() {
    let stage = Stage::new().await;
    let tiers = Tiers::new().tier("free", ["2/minute"]).unwrap();
    let limiter = stage.forebay.limiter("api", tiers).mode(Mode::Log).build().unwrap();
    let router = limited(RateLimitLayer::new(limiter).headers(HeaderStyle::Draft11));
    for _ in 0..2 {
        assert_eq!(ask(&router).await.status(), 200);
        stage.time.advance(Duration::from_secs(20));
    }
    let answer = ask(&router).await;
    assert_eq!(
        header(answer.headers(), "ratelimit"),
        "\"api-minute\";r=0;t=20",
        "and t=40 until all is there"
    );
    assert_eq!(header(answer.headers(), "retry-after"), "20");
}

#[tokio::test]
async fn a_request_that_costs_nothing_is_refused_by_the_window_that_is_more_than_full() {
    let stage = Stage::new().await;
    let limiter = stage.limiter("api", &["2/minute", "9/hour"]);
    let router = limited(RateLimitLayer::new(limiter.clone()).cost(|_| 2));
    ask(&router).await;
    limiter.replace_tiers(Tiers::new().tier("free", ["1/minute", "9/hour"]).unwrap()).unwrap();

    let answer = ask(&limited(RateLimitLayer::new(limiter).cost(|_| 0))).await;
    assert_eq!(answer.status(), 429);
    assert_eq!(problem(answer).await["violated-policies"], json!(["api-minute"]));
}

// R29: tower_governor#65, actix-governor#47: less than a second was 0 seconds, which is at once.
#[tokio::test]
async fn less_than_a_second_is_one_second_and_never_none() {
    let stage = Stage::new().await;
    let tiers = Tiers::new().tier("free", ["10/s"]).unwrap();
    let limiter = stage.forebay.limiter("api", tiers).mode(Mode::Log).build().unwrap();
    let router = limited(RateLimitLayer::new(limiter));
    for _ in 0..10 {
        assert_eq!(ask(&router).await.status(), 200);
    }
    for passed in [0, 400, 590, 9] {
        stage.time.advance(Duration::from_millis(passed));
        let answer = ask(&router).await;
        assert_eq!((answer.status().as_u16(), header(answer.headers(), "retry-after")), (429, "1"));
    }
}

#[tokio::test]
async fn all_windows_that_have_not_enough_left_are_named() {
    let stage = Stage::new().await;
    let router = limited(RateLimitLayer::new(stage.limiter("api", &["1/minute", "1/hour", "5/day"])));
    ask(&router).await;
    let problem = problem(ask(&router).await).await;
    assert_eq!(problem["violated-policies"], json!(["api-minute", "api-hour"]));
}

#[tokio::test]
async fn what_can_never_fit_is_422_and_takes_nothing() {
    let stage = Stage::new().await;
    let limiter = stage.limiter("api", &["10/minute"]);
    let answer = ask(&limited(RateLimitLayer::new(limiter.clone()).cost(|_| 11))).await;
    assert_eq!((answer.status().as_u16(), header(answer.headers(), "retry-after")), (422, ""));
    let problem = problem(answer).await;
    assert_eq!(problem["type"], "https://forebay.dev/problems/never-fits");
    assert_eq!(problem["detail"], "the request costs 11 and the limit is 10; waiting does not help");
    assert_eq!(left(&limiter, PEER).await, 10);
}

#[tokio::test]
async fn a_limiter_that_cannot_say_is_503_and_never_429() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let forebay = Forebay::builder("http").redis(format!("redis://{nobody}")).build().await.unwrap();
    let tiers = Tiers::new().tier("free", ["1/minute"]).unwrap();
    let limiter = forebay.limiter("api", tiers).on_outage(OnOutage::Closed).build().unwrap();
    let router = limited(RateLimitLayer::new(limiter));
    for _ in 0..3 {
        let answer = ask(&router).await;
        assert_eq!(answer.status(), 503);
        let pause: u64 = header(answer.headers(), "retry-after").parse().unwrap();
        assert!(pause >= 1);
        let problem = problem(answer).await;
        assert_eq!(problem["retry_after"], pause);
        assert_eq!(
            problem["type"],
            "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
        );
    }
}
