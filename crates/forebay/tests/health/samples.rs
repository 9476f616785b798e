//! Looks at some of the keys.

use std::time::Duration;

use forebay::{
    Forebay,
    health::{Advice, SampleBounds},
};
use forebay_rig::{Cluster, Redis};

use crate::{ANEW, PATIENCE, health, on};

/// Whatever a busy machine takes.
fn patient() -> SampleBounds {
    SampleBounds::default().time(Duration::from_secs(20))
}

fn write(redis: &Redis, prefix: &str, count: usize) {
    let script = "for n = 1, ARGV[2] do redis.call('SET', ARGV[1] .. n .. '}', 'x', 'PX', 600000) end";
    redis.call(&["EVAL", script, "0", prefix, &count.to_string()]);
}

#[tokio::test]
async fn keys_without_expiry_and_big_ones_are_found_and_those_of_others_are_not() {
    let redis = Redis::start();
    write(&redis, "cache:shop:a:v1:{", 200);
    redis.call(&["SET", "cache:shop:a:v1:{big}", &"x".repeat(200_000), "PX", "600000"]);
    redis.call(&["PERSIST", "cache:shop:a:v1:{7}"]);
    redis.call(&["SET", "lock:shop:{by hand}", "1"]);
    redis.call(&["SET", "session:shop:1", &"x".repeat(500_000)]);
    redis.call(&["SET", "cache:shopping:a:v1:{1}", "1"]);
    let forebay = on(&redis.url()).await;

    let sample = forebay.sample_keys(patient()).await;

    assert_eq!((sample.looked_at, sample.complete), (202, true));
    assert_eq!(sample.permanent, ["cache:shop:a:v1:{7}", "lock:shop:{by hand}"]);
    assert_eq!(sample.biggest[0].key, "cache:shop:a:v1:{big}");
    assert!((200_000..300_000).contains(&sample.biggest[0].bytes), "{:?}", sample.biggest[0]);
    let health = health(&forebay).await;
    assert!(health.advice.contains(&Advice::Permanent { keys: 2 }), "{health:?}");
    assert_eq!(health.sample, Some(sample));
}

#[tokio::test]
async fn a_look_takes_no_more_than_its_bounds_and_the_next_one_goes_on() {
    let redis = Redis::start();
    write(&redis, "other:{", 20_000);
    write(&redis, "cache:shop:a:v1:{", 3_000);
    redis.call(&["SET", "cache:shop:a:v1:{forever}", "1"]);
    let forebay = on(&redis.url()).await;
    let before = redis.calls("scan");

    let sample = forebay.sample_keys(patient().pages(5)).await;

    assert_eq!(redis.calls("scan") - before, 5);
    assert!(!sample.complete && sample.looked_at < 3_000, "{sample:?}");
    let mut looks = 1;
    while forebay.sample_keys(patient().pages(5)).await.permanent.is_empty() {
        looks += 1;
        // 23,001 keys by 2,500.
        assert!(looks <= 12, "the looks begin anew each time");
    }
}

#[tokio::test]
async fn enough_keys_end_a_look() {
    let redis = Redis::start();
    write(&redis, "cache:shop:a:v1:{", 5_000);
    let forebay = on(&redis.url()).await;

    let sample = forebay.sample_keys(patient().keys(100)).await;

    // A page more.
    assert!((100..=700).contains(&sample.looked_at), "{sample:?}");
}

#[tokio::test]
async fn all_nodes_of_a_cluster_are_looked_at() {
    let cluster = Cluster::start();
    let mut expected = Vec::new();
    for (node, id) in cluster.nodes().iter().zip(["a", "b", "c"]) {
        // Some id of this one's slots.
        let key = (0..1_000).map(|n| format!("claim:shop:{{{id}{n}}}"));
        let key = key.into_iter().find(|key| node.call(&["SET", key, "1"]) == "OK").unwrap();
        expected.push(key);
    }
    let forebay = on(&cluster.url()).await;

    let sample = forebay.sample_keys(patient()).await;

    assert_eq!((sample.permanent, sample.complete), (expected, true));
}

#[tokio::test]
async fn what_is_in_slots_without_a_node_was_not_seen() {
    let cluster = Cluster::start();
    for node in cluster.nodes() {
        node.call(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
        node.call(&["CLUSTER", "DELSLOTS", "77"]);
    }
    // It is not fit for use as a whole, so it is not waited for.
    let forebay = Forebay::builder("shop").redis(cluster.url()).build().await.unwrap();
    let looked_at_nodes = async {
        while health(&forebay).await.servers.is_empty() {
            tokio::time::sleep(ANEW).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked_at_nodes).await.unwrap();

    assert!(!forebay.sample_keys(patient()).await.complete);
}
