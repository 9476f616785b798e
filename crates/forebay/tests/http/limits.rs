//! How requests are counted, and what the answers to those that pass show of it.

use std::{
    convert::Infallible,
    future,
    net::SocketAddr,
    time::{Duration, SystemTime},
};

use axum::{Router, routing::get};
use bytes::Bytes;
use forebay::{
    Subject,
    http::{Addresses, CallerLayer, HeaderStyle, Identity, RateLimitLayer, Whose},
    limiter::{Decision, Mode, Tiers},
};
use http::{HeaderMap, Request, Response, request::Parts};
use http_body_util::Full;
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::stage::{PEER, Stage, ask, header, left, limited, request, send};

const DRAFTS: [HeaderStyle; 4] =
    [HeaderStyle::Draft8, HeaderStyle::Draft9, HeaderStyle::Draft10, HeaderStyle::Draft11];

/// Whatever an answer shows of a quota, as it is spelled, with the time of day that it names left out.
fn shown(headers: &HeaderMap) -> Vec<String> {
    let names = headers.iter().filter(|(name, _)| name.as_str().contains("ratelimit"));
    let lines = names.map(|(name, value)| match name.as_str() {
        "x-ratelimit-reset" => name.to_string(),
        _ => format!("{name}: {}", value.to_str().unwrap()),
    });
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn the_common_headers_show_the_window_that_binds() {
    let stage = Stage::new().await;
    let limiter = stage.forebay.limiter("api", Tiers::new().tier("free", ["3/minute", "100/hour"]).unwrap());
    let router = limited(RateLimitLayer::new(limiter.mode(Mode::Log).build().unwrap()));

    let answer = ask(&router).await;
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    assert_eq!(answer.status(), 200);
    assert_eq!(
        shown(answer.headers()),
        ["x-ratelimit-limit: 3", "x-ratelimit-remaining: 2", "x-ratelimit-reset"]
    );
    let reset: u64 = header(answer.headers(), "x-ratelimit-reset").parse().unwrap();
    assert!((now + 59..=now + 61).contains(&reset), "{reset} is a minute after {now}");
}

#[tokio::test]
async fn every_draft_shows_all_windows_as_lists() {
    let stage = Stage::new().await;
    for (n, draft) in DRAFTS.into_iter().enumerate() {
        let tiers = Tiers::new().tier("free", ["3/minute", "100/hour", "7/1500ms", "90/30s"]).unwrap();
        let limiter = stage.forebay.limiter(&format!("api{n}"), tiers).mode(Mode::Log).build().unwrap();
        let router = limited(RateLimitLayer::new(limiter).headers(draft));

        let mut lines = shown(ask(&router).await.headers());
        lines.truncate(2);
        let expected = [
            "ratelimit-policy: \"api-minute\";q=3;w=60, \"api-hour\";q=100;w=3600, \"api-1500ms\";q=7;w=2, \"api-30s\";q=90;w=30",
            "ratelimit: \"api-minute\";r=2;t=60, \"api-hour\";r=99;t=3600, \"api-1500ms\";r=6;t=2, \"api-30s\";r=89;t=30",
        ];
        assert_eq!(lines, expected.map(|line| line.replace("api", &format!("api{n}"))), "{draft}");
    }
}

#[tokio::test]
async fn a_draft_comes_beside_the_common_headers_and_off_is_off() {
    let stage = Stage::new().await;
    let limiter = stage.limiter("api", &["3/minute"]);
    let draft = ask(&limited(RateLimitLayer::new(limiter.clone()).headers(HeaderStyle::Draft11))).await;
    assert_eq!(
        shown(draft.headers())[2..],
        ["x-ratelimit-limit: 3", "x-ratelimit-remaining: 2", "x-ratelimit-reset"]
    );

    let off = limited(RateLimitLayer::new(limiter).headers(HeaderStyle::Off));
    assert_eq!(shown(ask(&off).await.headers()), [""; 0]);
    ask(&off).await;
    let refused = ask(&off).await;
    assert_eq!((refused.status().as_u16(), shown(refused.headers())), (429, vec![]));
}

#[tokio::test]
async fn an_unlimited_tier_shows_nothing() {
    let stage = Stage::new().await;
    let tiers = Tiers::new().unlimited("free").unwrap();
    let limiter = stage.forebay.limiter("api", tiers).build().unwrap();
    let answer = ask(&limited(RateLimitLayer::new(limiter).headers(HeaderStyle::Draft11))).await;
    assert_eq!((answer.status().as_u16(), shown(answer.headers())), (200, vec![]));
}

#[tokio::test]
async fn a_request_takes_its_cost_and_a_skipped_one_nothing() {
    let stage = Stage::new().await;
    let limiter = stage.limiter("api", &["10/minute"]);
    let cost = |head: &Parts| if head.headers.contains_key("costly") { 4 } else { 1 };
    let layer =
        RateLimitLayer::new(limiter.clone()).cost(cost).skip(|head| head.headers.contains_key("free"));
    let router = limited(layer);

    send(&router, request(PEER, &[("costly", "yes")])).await;
    assert_eq!(left(&limiter, PEER).await, 6);
    ask(&router).await;
    assert_eq!(left(&limiter, PEER).await, 5);
    let skipped = send(&router, request(PEER, &[("free", "yes")])).await;
    assert_eq!((skipped.status().as_u16(), shown(skipped.headers())), (200, vec![]));
    assert_eq!(left(&limiter, PEER).await, 5);
}

#[tokio::test]
async fn a_caller_who_rotates_headers_or_has_a_whole_network_has_one_quota() {
    let stage = Stage::new().await;
    let router = limited(RateLimitLayer::new(stage.limiter("api", &["3/minute"])));
    for (n, status) in [200, 200, 200, 429, 429].into_iter().enumerate() {
        let (peer, claim) = (format!("2001:db8:1:2::{n}"), format!("192.0.2.{n}"));
        let answer =
            send(&router, request(&peer, &[("x-forwarded-for", &claim), ("x-real-ip", &claim)])).await;
        assert_eq!(answer.status(), status);
    }
    assert_eq!(ask(&router).await.status(), 200, "somebody else has another");
}

// P8: a quota for each /64 is 65,536 quotas for the owner of a /48.
#[tokio::test]
async fn a_wider_network_has_a_quota_beside_the_caller() {
    let stage = Stage::new().await;
    let limiter = stage.limiter("api", &["3/minute"]);
    let router = limited(RateLimitLayer::new(limiter.clone()).by([Whose::caller(), Whose::network(48)]));
    for (n, status) in [200, 200, 200, 429, 429].into_iter().enumerate() {
        let answer = send(&router, request(&format!("2001:db8:1:{n}::1"), &[])).await;
        assert_eq!(answer.status(), status);
    }
    assert_eq!(left(&limiter, "2001:db8:1:0::1").await, 2);
    assert_eq!(left(&limiter, "2001:db8:1:4::1").await, 3, "what was refused by the wider one is given back");
    ask(&router).await;
    assert_eq!(left(&limiter, PEER).await, 2, "an IPv4 address is its own network, and asked once");
}

// R33: langfuse#14280: the user's quota was used up by what the organisation's refused.
#[tokio::test]
async fn what_the_tenants_quota_refuses_takes_nothing_from_the_user() {
    let stage = Stage::new().await;
    let limiter = stage.limiter("api", &["2/minute"]);
    let tenant =
        |head: &Parts| Some(Identity::new(Subject::tenant(head.headers.get("tenant")?.to_str().ok()?)));
    let router = limited(RateLimitLayer::new(limiter.clone()).by([Whose::caller(), Whose::found(tenant)]));
    for (peer, status) in [("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.3", 429)] {
        let answer = send(&router, request(peer, &[("tenant", "acme")])).await;
        assert_eq!(answer.status(), status);
    }
    assert_eq!(left(&limiter, "192.0.2.3").await, 2);
    assert_eq!(send(&router, request("192.0.2.3", &[("tenant", "other")])).await.status(), 200);
}

#[tokio::test]
async fn a_subject_that_comes_in_two_tiers_is_decided_by_the_windows_of_both() {
    let stage = Stage::new().await;
    let tiers = Tiers::new().tier("free", ["5/minute"]).unwrap().tier("default", ["2/hour"]).unwrap();
    let limiter = stage.forebay.limiter("api", tiers).build().unwrap();
    let again = |_: &Parts| {
        let address = Subject::address(PEER.parse().unwrap());
        Some(Identity::new(address).tier("default"))
    };
    let router = limited(RateLimitLayer::new(limiter.clone()).by([Whose::caller(), Whose::found(again)]));
    for status in [200, 200, 429] {
        assert_eq!(ask(&router).await.status(), status);
    }
    assert_eq!(left(&limiter, PEER).await, 3, "once from each window, and nothing for the refusal");
}

#[tokio::test]
async fn sign_in_is_limited_by_address_whoever_is_asking() {
    let stage = Stage::new().await;
    let tiers = Tiers::new().tier("free", ["2/minute"]).unwrap().tier("default", ["9/minute"]).unwrap();
    let limiter = stage.forebay.limiter("sign-in", tiers).build().unwrap();
    let lookup = |head: &Parts| {
        let user = head.headers.get("user").map(|user| Subject::user(user.to_str().unwrap()).into());
        future::ready(Ok::<_, Infallible>(user))
    };
    let router = Router::new().route("/", get(async || "done"));
    let router = router.layer(RateLimitLayer::new(limiter).by([Whose::address()]));
    let router = router.layer(CallerLayer::new(Addresses::new()).lookup(lookup));
    for (user, status) in [("1", 200), ("2", 200), ("3", 429)] {
        assert_eq!(send(&router, request(PEER, &[("user", user)])).await.status(), status);
    }
}

#[tokio::test]
#[should_panic(expected = "name one at least")]
async fn a_layer_that_would_limit_nobody_is_not_made() {
    drop(RateLimitLayer::new(Stage::new().await.limiter("api", &["2/minute"])).by([]));
}

#[tokio::test]
async fn without_a_caller_all_share_one_quota() {
    let stage = Stage::new().await;
    let router = Router::new().route("/", get(async || "done"));
    let router = router.layer(RateLimitLayer::new(stage.limiter("api", &["2/minute"])));
    for (peer, status) in [("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.3", 429)] {
        assert_eq!(send(&router, request(peer, &[])).await.status(), status);
    }
}

#[tokio::test]
async fn a_client_that_goes_away_has_used_its_quota() {
    let stage = Stage::new().await;
    let limiter = stage.limiter("api", &["2/minute"]);
    let router = Router::new().route("/", get(async || future::pending::<()>().await));
    let router = router.layer(RateLimitLayer::new(limiter.clone())).layer(CallerLayer::new(Addresses::new()));
    let gone = tokio::time::timeout(Duration::from_millis(20), ask(&router)).await;
    assert!(gone.is_err());
    assert_eq!(left(&limiter, PEER).await, 1);
}

#[tokio::test]
async fn any_body_that_a_text_can_become_will_do() {
    let stage = Stage::new().await;
    let service =
        ServiceBuilder::new().layer(RateLimitLayer::new(stage.limiter("api", &["0/minute"]))).service(
            service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))),
        );
    let answer = service.oneshot(Request::new(())).await.unwrap();
    assert_eq!(answer.status(), 429);
}

#[tokio::test]
async fn the_answer_carries_the_decision() {
    let stage = Stage::new().await;
    let router = limited(RateLimitLayer::new(stage.limiter("api", &["1/minute"])));
    assert!(
        matches!(ask(&router).await.extensions().get(), Some(Decision::Allowed(quota)) if quota.remaining() == 0)
    );
    assert!(matches!(ask(&router).await.extensions().get(), Some(Decision::Denied { .. })));
}

#[tokio::test]
async fn over_a_real_connection_the_limit_holds() {
    let stage = Stage::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let router = limited(RateLimitLayer::new(stage.limiter("api", &["2/minute"])));
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let server = tokio::spawn(async move { axum::serve(listener, service).await });

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (n, status) in [200, 200, 429].into_iter().enumerate() {
        let claim = format!("192.0.2.{n}");
        let answer = client.get(&url).header("x-forwarded-for", claim).send().await.unwrap();
        assert_eq!(answer.status(), status);
    }
    server.abort();
}
