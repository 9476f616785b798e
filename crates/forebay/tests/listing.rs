//! Whose limits are in use, as a dashboard asks: found in the store, counted up to a bound.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use forebay::{
    Forebay, Subject,
    limiter::{Limiter, Listing, Mode, Tiers},
};
use forebay_rig::{Cluster, Redis};

/// How many keys are counted, and among how many of other kinds they are looked for.
const MOST: usize = 10_000;
const LOOKED_AT: usize = 200_000;
const PAGE: usize = 500;

const MINUTE: Duration = Duration::from_secs(60);

fn limiter(forebay: &Forebay, policy: &str, mode: Mode) -> Limiter {
    let tiers = Tiers::new().tier("free", ["10/minute"]).unwrap();
    let tiers = tiers.tier("pro", ["60/minute", "9000/hour"]).unwrap().unlimited("internal").unwrap();
    forebay.limiter(policy, tiers).mode(mode).build().unwrap()
}

async fn on_redis(url: String) -> Forebay {
    let forebay = Forebay::builder("shop").redis(url).redis_budget(MINUTE).build().await.unwrap();
    // Connecting is no part of the test.
    while forebay.limits().await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    forebay
}

fn told(listing: &Listing) -> Vec<(&str, Option<u64>)> {
    listing.counts.iter().map(|count| (count.subject.as_str(), count.used())).collect()
}

async fn is_listed_by_what_is_in_use(forebay: Forebay) {
    // A policy is known for as long as a limiter of it exists.
    let mut limiters = Vec::new();
    for mode in [Mode::Strict, Mode::Sliding, Mode::Log, Mode::Gcra] {
        let limiter = limiter(&forebay, &format!("{mode:?}").to_lowercase(), mode);
        assert!(limiter.check_cost(&Subject::user("a b"), "pro", 7).await.is_allowed());
        assert!(limiter.check(&Subject::user("unlimited"), "internal").await.is_allowed());
        limiters.push(limiter);
    }
    let listing = forebay.limits().await.unwrap();
    assert_eq!((listing.total, listing.truncated), (4, false));
    assert_eq!(told(&listing), [("user:a%20b", Some(7)); 4], "{listing:?}");
    let gcra = listing.counts.iter().find(|count| count.policy == "gcra").unwrap();
    assert_eq!(gcra.key, "rate_limit:shop:gcra:{user:a%20b}:gcra");
    let windows = gcra.windows.iter().flatten().map(|window| (window.window, window.used));
    assert_eq!(windows.collect::<Vec<_>>(), [(MINUTE, 7), (MINUTE * 60, 7)]);
}

#[tokio::test]
async fn a_subject_in_memory_is_listed_by_what_it_has_in_use() {
    is_listed_by_what_is_in_use(Forebay::builder("shop").memory().build().await.unwrap()).await;
}

#[tokio::test]
async fn a_subject_in_redis_is_listed_by_what_it_has_in_use() {
    let redis = Redis::start();
    is_listed_by_what_is_in_use(on_redis(redis.url()).await).await;
    assert_eq!(redis.keys_without_expiry(), Vec::<String>::new());
}

#[tokio::test]
async fn all_nodes_of_a_cluster_are_asked() {
    let cluster = Cluster::start();
    let forebay = on_redis(cluster.url()).await;
    let limiter = limiter(&forebay, "api", Mode::Strict);
    for user in 0..20 {
        assert!(limiter.check(&Subject::user(user), "free").await.is_allowed());
    }
    let listing = forebay.limits().await.unwrap();
    assert_eq!((listing.total, listing.truncated), (20, false));
    assert!(told(&listing).iter().all(|(_, used)| *used == Some(1)), "{listing:?}");
}

#[tokio::test]
async fn looking_changes_nothing() {
    let redis = Redis::start();
    let forebay = on_redis(redis.url()).await;
    let limiter = limiter(&forebay, "api", Mode::Strict);
    assert!(limiter.check(&Subject::user("a"), "free").await.is_allowed());
    let value = || redis.raw(&[b"GET", b"rate_limit:shop:api:{user:a}"]);
    let before = value();

    drop(forebay.limits().await.unwrap());

    assert_eq!(value(), before);
}

#[tokio::test]
async fn keys_of_unknown_policies_are_listed_without_a_count_and_others_not_at_all() {
    let redis = Redis::start();
    let forebay = on_redis(redis.url()).await;
    for key in ["rate_limit:shop:a:b:{user:1}", "rate_limit:shopping:a:{user:1}", "rate_limit:shop:{user:1}"]
    {
        redis.call(&["SET", key, "1", "EX", "60"]);
    }
    let listing = forebay.limits().await.unwrap();
    assert_eq!((listing.total, told(&listing)), (1, vec![("user:1", None)]));
    assert_eq!(listing.counts[0].policy, "a:b");
}

#[tokio::test]
async fn a_hundred_keys_are_shown_and_all_counted_up_to_a_bound() {
    let forebay = Forebay::builder("shop").memory().build().await.unwrap();
    let limiter = limiter(&forebay, "api", Mode::Strict);
    for user in 0..=MOST {
        assert!(limiter.check(&Subject::user(user), "free").await.is_allowed());
        if user == 100 || user == MOST - 1 || user == MOST {
            let listing = forebay.limits().await.unwrap();
            assert_eq!((listing.counts.len(), listing.total), (100, (user + 1).min(MOST)));
            assert_eq!(listing.truncated, user == MOST, "{user}");
        }
    }
}

#[tokio::test]
async fn a_redis_full_of_other_keys_is_not_walked_through() {
    let redis = Redis::start();
    let forebay = on_redis(redis.url()).await;
    let others = (LOOKED_AT + 50_000).to_string();
    let script = "for n = 1, ARGV[1] do redis.call('SET', 'other:' .. n, '', 'EX', 600) end";
    redis.call(&["EVAL", script, "0", &others]);
    let before = redis.calls("scan");

    let listing = forebay.limits().await.unwrap();

    assert!(listing.truncated && listing.total == 0, "{listing:?}");
    assert_eq!(redis.calls("scan") - before, (LOOKED_AT / PAGE) as u64);
}
