//! What Redis tells of itself, over HTTP.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Answered, Server, Stage};

const STATS: &str = "/redis-monitor/stats";

async fn stats(server: &Server) -> Value {
    let answer = Answered::to(server.get(STATS)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[tokio::test]
async fn a_server_on_memory_says_so() {
    let stats = stats(&Server::start()).await;
    assert_eq!(stats, json!({ "store": "memory", "hot_keys": [], "most_refused": [] }));
}

#[tokio::test]
async fn what_is_read_most_is_named_and_who_is_refused_most_is_not() {
    let server =
        Server::with("[limits.tight]\nlowest = \"free\"\n[limits.tight.tiers]\nfree = [\"1/hour\"]\n");
    server.put("/v1/cache/demo/hot?ttl_ms=60000", "x").send().await.unwrap();
    for n in 0..40 {
        let id = if n % 4 == 0 { "cold" } else { "hot" };
        server.get(&format!("/v1/cache/demo/{id}")).send().await.unwrap();
        let check = server.post("/v1/limits/tight", r#"{"subject":"user:ann"}"#);
        check.header("content-type", "application/json").send().await.unwrap();
    }

    let stats = stats(&server).await;

    assert_eq!(
        (&stats["hot_keys"][0]["space"], &stats["hot_keys"][0]["id"]),
        (&json!("demo"), &json!("hot"))
    );
    assert!(stats["hot_keys"][0]["reads"].as_u64().unwrap() > 10, "{stats}");
    let refused = &stats["most_refused"][0];
    assert_eq!(refused["policy"], "tight", "{stats}");
    assert!(refused["refusals"].as_u64().unwrap() > 10, "{stats}");
    assert_eq!(refused["subject"].as_str().unwrap().len(), 12);
    assert!(!stats.to_string().contains("ann"), "{stats}");
}

#[tokio::test]
async fn what_redis_tells_is_answered_with_ratings_and_advice() {
    let stage = Stage::redis("").await;
    let redis = stage.redis.as_ref().unwrap();

    let stats = stats(&stage.here).await;

    assert_eq!((&stats["store"], &stats["usable"]), (&json!("redis"), &json!(true)), "{stats}");
    assert_eq!(stats["server"]["version"].as_str(), redis.field("server", "redis_version").as_deref());
    assert_eq!(
        (&stats["server"]["uptime_in_days"], &stats["server"]["role"]),
        (&json!(0), &json!("primary"))
    );
    let used = stats["memory"]["used_memory"].as_u64().unwrap();
    let human = stats["memory"]["used_memory_human"].as_str().unwrap();
    assert!(used > 500_000 && human.ends_with(['K', 'M']), "{stats}");
    for member in ["used_memory_peak_human", "mem_fragmentation_ratio", "maxmemory_policy"] {
        assert!(!stats["memory"][member].is_null(), "{member}: {stats}");
    }
    for member in ["keyspace_hits", "keyspace_misses", "total_commands_processed"] {
        assert!(stats["stats"][member].is_u64(), "{member}: {stats}");
    }
    assert!(stats["clients"]["connected_clients"].as_u64().unwrap() >= 1, "{stats}");
    assert_eq!(stats["ratings"]["connections"], "excellent");
    assert_eq!(stats["breaker"], json!({ "open": false, "nodes": 1, "nodes_down": 0 }));
    assert!(stats["round_trip"]["p99_us"].as_u64().unwrap() > 0, "{stats}");
    let advice: Vec<_> = stats["advice"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(advice, ["no_memory_limit"], "{stats}");
}

#[tokio::test]
async fn a_policy_that_evicts_is_advised_against_as_limits_are_declared() {
    let stage = Stage::redis("").await;
    stage.redis.as_ref().unwrap().call(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    sleep(Duration::from_millis(1_100)).await;

    let stats = stats(&stage.here).await;

    assert_eq!(stats["advice"][0]["name"], "evicts", "{stats}");
    assert!(stats["advice"][0]["text"].as_str().unwrap().contains("noeviction"), "{stats}");
}

#[tokio::test]
async fn figures_of_a_redis_that_is_gone_are_answered_with_their_age() {
    let stage = Stage::redis("").await;
    let version = stats(&stage.here).await["server"]["version"].clone();
    stage.redis.as_ref().unwrap().kill();
    sleep(Duration::from_millis(1_500)).await;

    let stats = stats(&stage.here).await;

    assert_eq!((&stats["usable"], &stats["server"]["version"]), (&json!(false), &version), "{stats}");
    assert!(stats["reason"].is_string() && stats["age_ms"].as_u64().unwrap() >= 1_000, "{stats}");
    assert_eq!(stats["breaker"]["open"], true);
}

#[tokio::test]
async fn the_readiness_tells_version_clock_and_round_trip_when_it_is_asked_to() {
    let stage = Stage::redis("").await;

    let answer = Answered::to(stage.here.get("/readyz?verbose")).await.json();

    let redis = &answer["components"]["redis"];
    assert!(redis["version"].as_str().unwrap().starts_with("redis "), "{answer}");
    assert!(redis["clock_ahead_ms"].as_i64().unwrap().abs() < 1_000, "{answer}");
    assert!(redis["round_trip_p50_us"].as_u64().unwrap() > 0, "{answer}");
    assert_eq!(redis["nodes_down"], 0);
}
