//! The figures of servers.

use std::time::Duration;

use forebay::{
    Forebay,
    health::{Advice, Health, Rating, SampleBounds},
    testing::{Flow, Proxy},
};
use forebay_rig::{Cluster, Redis};
use futures::future::join_all;
use tokio::time::sleep;

use crate::{ANEW, health, on};

#[tokio::test]
async fn a_memory_store_has_no_figures() {
    let forebay = Forebay::builder("shop").memory().build().await.unwrap();
    assert_eq!(forebay.health().await, Health::Memory);
    assert_eq!(forebay.diagnose().await.findings, []);
}

#[tokio::test]
async fn a_server_tells_what_it_is_and_how_it_stands() {
    let redis = Redis::with(&["--maxmemory", "64mb"]);
    let forebay = on(&redis.url()).await;

    let health = health(&forebay).await;

    assert!(health.usable, "{health:?}");
    let figures = health.servers[0].figures.as_ref().unwrap();
    assert_eq!(Some(&figures.version), redis.field("server", "redis_version").as_ref());
    assert_eq!(figures.run_id, redis.field("server", "run_id"));
    assert_eq!(
        (figures.memory.limit, figures.memory.policy.as_deref()),
        (Some(64 << 20), Some("noeviction"))
    );
    assert_eq!(figures.replication.is_replica, Some(false));
    assert!(figures.memory.used.unwrap() > 100_000 && figures.clients.connected.unwrap() >= 2, "{figures:?}");
    let clock = figures.clock.unwrap();
    assert!(clock.by <= Duration::from_millis(5) + clock.error, "{clock:?}");
    assert_eq!(health.ratings.connections, Some(Rating::Excellent));
    // Case M1: there is nothing in it, so whatever is resident is the server itself.
    assert_eq!(health.ratings.fragmentation, Some(Rating::Excellent), "{figures:?}");
    assert_eq!(health.advice, []);
}

#[tokio::test]
async fn round_trips_of_this_process_are_counted() {
    let redis = Redis::start();
    let forebay = on(&redis.url()).await;
    for n in 0..200 {
        let claim = forebay.claim(&n.to_string(), Duration::from_secs(60)).await;
        assert!(claim.unwrap().is_claimed());
    }

    let trips = health(&forebay).await.round_trips;

    let [p50, p95, p99] = [trips.p50, trips.p95, trips.p99].map(Option::unwrap);
    assert!(trips.count >= 200, "{trips:?}");
    assert!(p50 >= Duration::from_micros(5) && p50 <= p95 && p95 <= p99, "{trips:?}");
    assert!(p99 < Duration::from_secs(5), "{trips:?}");
}

#[tokio::test]
async fn what_an_operator_asks_is_no_round_trip_of_a_caller() {
    let redis = Redis::start();
    let script = "for n = 1, 60000 do redis.call('SET', 'other:' .. n, 'x', 'PX', 600000) end";
    redis.call(&["EVAL", script, "0"]);
    let forebay = on(&redis.url()).await;
    let before = health(&forebay).await.round_trips.count;

    let bounds = SampleBounds::default().pages(200).time(Duration::from_secs(20));
    assert!(forebay.sample_keys(bounds).await.complete);
    sleep(ANEW).await;

    // It has asked for 120 pages; heartbeats are round trips, two in a second.
    let trips = health(&forebay).await.round_trips.count - before;
    assert!((1..60).contains(&trips), "{trips}");
}

#[tokio::test]
async fn the_hit_rate_is_that_of_the_reads_since_it_was_last_asked_for() {
    let redis = Redis::start();
    let read = |key: &str, times: usize| (0..times).for_each(|_| drop(redis.call(&["GET", key])));
    redis.call(&["SET", "there", "1", "PX", "60000"]);
    // What was before does not count.
    read("there", 500);
    let forebay = on(&redis.url()).await;
    assert_eq!(health(&forebay).await.hit_rate, None);

    read("there", 12);
    read("elsewhere", 4);
    sleep(ANEW).await;
    let found = health(&forebay).await;

    assert_eq!((found.hit_rate, found.ratings.hit_rate), (Some(75.0), Some(Rating::Good)), "{found:?}");
}

#[tokio::test]
async fn a_server_is_asked_once_a_second_however_many_ask() {
    let redis = Redis::start();
    let forebay = on(&redis.url()).await;
    let before = redis.calls("info");
    let asks = (0..100).map(|_| forebay.health());

    let answers = join_all(asks).await;

    assert!(answers.iter().all(|answer| *answer == answers[0]));
    // Besides: the rig asks for what it counts.
    assert!(redis.calls("info") - before <= 3, "{}", redis.calls("info") - before);
}

#[tokio::test]
async fn who_may_not_ask_for_figures_has_none_and_can_do_all_else() {
    let redis = Redis::start();
    redis.call(&["ACL", "SETUSER", "web", "on", ">pass", "~*", "&*", "+@all", "-info"]);
    let forebay = on(&redis.url().replace("//", "//web:pass@")).await;

    let health = health(&forebay).await;

    assert!(health.usable && health.servers[0].figures.is_none(), "{health:?}");
    assert!(health.servers[0].trouble.as_ref().unwrap().contains("INFO"), "{health:?}");
    assert!(forebay.claim("a", Duration::from_secs(1)).await.unwrap().is_claimed());
}

#[tokio::test]
async fn figures_of_a_server_that_is_gone_are_told_with_their_age() {
    let redis = Redis::start();
    let forebay = on(&redis.url()).await;
    let before = health(&forebay).await;
    redis.kill();
    // The supervisor finds out by itself.
    sleep(ANEW).await;

    let health = health(&forebay).await;

    assert!(!health.usable && health.reason.is_some(), "{health:?}");
    assert_eq!(health.servers[0].figures, before.servers[0].figures);
    assert!(health.servers[0].age >= Duration::from_secs(1), "{health:?}");
}

#[tokio::test]
async fn a_server_that_is_silent_holds_nobody_up() {
    let redis = Redis::start();
    let forebay = on(&redis.url()).await;
    redis.pause();
    let began = tokio::time::timeout(Duration::from_secs(8), forebay.health()).await;
    redis.resume();
    assert!(began.is_ok());
}

#[tokio::test]
async fn whoever_asks_while_a_server_is_slow_shares_one_question() {
    let redis = Redis::start();
    let proxy = Proxy::start(format!("127.0.0.1:{}", redis.port())).await.unwrap();
    let forebay = on(&proxy.url()).await;
    // Longer than an answer is kept.
    proxy.replies(Flow::Delay(Duration::from_millis(1_500)));
    let before = redis.calls("info");

    let answers = join_all((0..5).map(|_| forebay.health())).await;

    // Besides: the rig asks for what it counts.
    assert!(redis.calls("info") - before <= 3, "{}", redis.calls("info") - before);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

#[tokio::test]
async fn every_primary_of_a_cluster_tells_its_own() {
    let cluster = Cluster::start();
    let forebay = on(&cluster.url()).await;

    let health = health(&forebay).await;

    let mut runs: Vec<_> =
        health.servers.iter().map(|server| server.figures.clone().unwrap().run_id.unwrap()).collect();
    let mut nodes: Vec<_> =
        cluster.nodes().iter().map(|node| node.field("server", "run_id").unwrap()).collect();
    runs.sort();
    nodes.sort();
    assert_eq!(runs, nodes);
    // Three nodes give reason for it, and it is said once.
    assert_eq!(health.advice, [Advice::NoMemoryLimit]);
}

#[tokio::test]
async fn eviction_matters_where_something_relies_on_keys() {
    let redis = Redis::with(&["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]);
    let forebay = on(&redis.url()).await;
    assert_eq!(health(&forebay).await.advice, []);

    forebay.lock("plan:42").try_acquire().await.unwrap();
    sleep(ANEW).await;

    assert_eq!(health(&forebay).await.advice, [Advice::Evicts { policy: "allkeys-lru".into() }]);
}

#[tokio::test]
async fn a_clock_that_is_off_is_told() {
    let (redis, clock) = Redis::with_running_clock();
    let forebay = on(&redis.url()).await;
    clock.step_back(Duration::from_secs(600));

    let health = health(&forebay).await;

    let told = health.servers[0].figures.as_ref().unwrap().clock.unwrap();
    assert!(!told.ahead && told.by.abs_diff(Duration::from_secs(600)) < Duration::from_secs(5), "{told:?}");
    assert!(health.advice.contains(&Advice::ClockDiffers { by: told.by }), "{health:?}");
}

#[tokio::test]
async fn full_memory_is_warned_of_once_by_all_processes() {
    let redis = Redis::start();
    // So much that connections are small beside it.
    redis.call(&["SETRANGE", "other", "20000000", "x"]);
    let used: u64 = redis.field("memory", "used_memory").unwrap().parse().unwrap();
    let limit = (used * 10 / 9).to_string();
    redis.call(&["CONFIG", "SET", "maxmemory", &limit]);
    let (here, there) = (on(&redis.url()).await, on(&redis.url()).await);
    let claims = || redis.call(&["KEYS", "claim:shop:*"]);

    let advice = health(&here).await.advice;
    let claim = claims();
    assert!(matches!(advice[..], [Advice::NearlyFull { percent }] if percent > 80.0), "{advice:?}");
    assert!(claim.starts_with("claim:shop:{forebay:"), "{claim}");
    let token = redis.call(&["GET", &claim]);
    health(&there).await;

    assert_eq!((claims(), redis.call(&["GET", &claim])), (claim.clone(), token));
    let left: u64 = redis.call(&["PTTL", &claim]).parse().unwrap();
    assert!((3_500_000..=3_600_000).contains(&left), "{left}");
}
