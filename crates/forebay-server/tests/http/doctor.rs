//! `forebay doctor` on set-ups that are broken in one way each: it names what is wrong and how to mend it.

use std::{process::Output, time::Duration};

use forebay_rig::{Cluster, Redis, Sentinels, timed};
use serde_json::Value;

use crate::support::run;

/// As one should have it.
const GOOD: [&str; 2] = ["--maxmemory", "64mb"];

fn good() -> Redis {
    Redis::with(&GOOD)
}

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

/// Runs it by the variable, as nobody should put a password on the command line.
fn examine(url: &str, arguments: &[&str]) -> Output {
    run(&[&["doctor"], arguments].concat(), &[("FOREBAY_REDIS_URL", url)], None)
}

/// The findings by JSON, and the exit code.
fn findings(url: &str, arguments: &[&str]) -> (Value, Option<i32>) {
    let output = examine(url, &[&["--json"], arguments].concat());
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"));
    (document, output.status.code())
}

fn of<'a>(document: &'a Value, verdict: &str) -> Vec<&'a Value> {
    document["findings"].as_array().unwrap().iter().filter(|line| line["verdict"] == verdict).collect()
}

/// This one check is a fault, whose value and remedy say so; exit code 1.
fn is_the_fault(url: &str, check: &str, value: &str, remedy: &str) {
    let (document, code) = findings(url, &[]);
    let faults = of(&document, "fault");
    assert_eq!(faults.iter().map(|fault| &fault["check"]).collect::<Vec<_>>(), [check], "{document:#}");
    let said = |member: &str| faults[0][member].as_str().unwrap();
    assert!(said("value").contains(value), "{document:#}");
    assert!(said("remedy").contains(remedy), "{document:#}");
    assert_eq!((code, &document["well"]), (Some(1), &Value::Bool(false)));

    let printed = text(&examine(url, &[]).stdout);
    assert!(printed.contains(&format!("FAULT    {check}")), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
}

#[test]
fn a_good_set_up_is_well() {
    let redis = good();

    let (document, code) = findings(&redis.url(), &[]);

    assert_eq!(
        (code, &document["well"], &document["faults"]),
        (Some(0), &true.into(), &0.into()),
        "{document:#}"
    );
    assert_eq!(document["place"].as_str(), redis.url().strip_prefix("redis://"));
    // The rig keeps nothing on disk.
    let warnings: Vec<_> = of(&document, "warning").iter().map(|line| &line["check"]).collect();
    assert_eq!(warnings, ["persistence"], "{document:#}");
    let printed = examine(&redis.url(), &[]);
    assert_eq!(printed.status.code(), Some(0));
    assert!(text(&printed.stdout).contains("Nothing is broken. 1 warning."), "{}", text(&printed.stdout));
    assert_eq!(text(&printed.stderr), "");
}

#[test]
fn a_good_cluster_is_well() {
    let cluster = Cluster::start();
    for node in cluster.nodes() {
        node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    }
    let (document, code) = findings(&cluster.url(), &[]);
    assert_eq!((code, &document["faults"]), (Some(0), &0.into()), "{document:#}");
}

#[test]
fn no_redis_is_named() {
    is_the_fault("redis://127.0.0.1:1", "reachable", "refuses connections", "start Redis");
}

#[test]
fn a_wrong_password_is_named_and_not_shown() {
    let redis = good();
    redis.call(&["CONFIG", "SET", "requirepass", "right"]);
    for user in [":swordfish", "ann:swordfish"] {
        let url = redis.url().replace("//", &format!("//{user}@"));
        is_the_fault(&url, "credentials", "WRONGPASS", "user and password into the URL");
        assert!(!text(&examine(&url, &[]).stdout).contains("swordfish"));
    }
    is_the_fault(&redis.url(), "credentials", "NOAUTH", "user and password into the URL");
}

#[test]
fn a_policy_that_evicts_is_named() {
    let redis = good();
    for policy in ["allkeys-lru", "volatile-ttl"] {
        redis.call(&["CONFIG", "SET", "maxmemory-policy", policy]);
        is_the_fault(&redis.url(), "eviction", policy, "CONFIG SET maxmemory-policy noeviction");
    }
}

#[test]
fn memory_without_a_limit_is_named() {
    is_the_fault(&Redis::start().url(), "maxmemory", "no limit", "CONFIG SET maxmemory");
}

#[test]
fn memory_that_is_full_is_named() {
    let redis = good();
    redis.call(&["SETRANGE", "other", "20000000", "x"]);
    let used: u64 = redis.field("memory", "used_memory").unwrap().parse().unwrap();
    redis.call(&["CONFIG", "SET", "maxmemory", &(used * 100 / 97).to_string()]);
    is_the_fault(&redis.url(), "maxmemory", "% of", "raise maxmemory");
}

#[test]
fn a_user_who_may_not_listen_is_named() {
    let redis = good();
    redis.call(&["ACL", "SETUSER", "web", "on", ">pass", "~*", "&*", "+@all", "-subscribe"]);
    let url = redis.url().replace("//", "//web:pass@");
    is_the_fault(&url, "rights", "SUBSCRIBE", "+subscribe ~*:forebay:* &forebay:forebay:*");
}

#[test]
fn a_server_that_may_not_be_asked_about_itself_is_named() {
    let redis = good();
    redis.call(&["ACL", "SETUSER", "web", "on", ">pass", "~*", "&*", "+@all", "-info"]);
    let url = redis.url().replace("//", "//web:pass@");
    is_the_fault(&url, "version", "may not ask for INFO", "ACL SETUSER web +info");
}

#[test]
fn a_replica_is_named() {
    let (primary, replica) = (good(), good());
    replica.call(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]);
    is_the_fault(&replica.url(), "primary", "a replica", "address of the primary");
}

#[test]
fn a_clock_that_is_off_is_named() {
    let (redis, clock) = Redis::with_running_clock();
    redis.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    clock.step_back(Duration::from_secs(900));
    is_the_fault(&redis.url(), "clock", "behind that of this machine", "NTP");
    clock.advance(Duration::from_secs(1_800));
    is_the_fault(&redis.url(), "clock", "ahead of that of this machine", "NTP");
}

#[test]
fn keys_without_expiry_are_named() {
    let redis = good();
    redis.call(&["SET", "cache:forebay:demo:v1:{greeting}", "hello"]);
    redis.call(&["SET", "somebody:else", "hello"]);
    is_the_fault(&redis.url(), "expiry", "1 without, such as cache:forebay:demo:v1:{greeting}", "DEL them");
}

#[test]
fn a_database_that_there_is_not_is_named() {
    is_the_fault(&(good().url() + "/99"), "database", "database", "number of a database");
}

#[test]
fn a_database_that_is_not_the_one_with_the_keys_is_named() {
    let redis = good();
    redis.call(&["SET", "cache:forebay:demo:v1:{greeting}", "hello", "PX", "600000"]);
    is_the_fault(
        &(redis.url() + "/3"),
        "database",
        "3 has no keys of this application, 0 has 1",
        "end the URL in /0",
    );
    assert_eq!(findings(&redis.url(), &[]).1, Some(0));
}

#[test]
fn a_cluster_with_a_hole_is_named() {
    let cluster = Cluster::start();
    for node in cluster.nodes() {
        node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
        node.call(&["CLUSTER", "DELSLOTS", "77"]);
    }
    is_the_fault(&cluster.url(), "slots", "1 have no node: 77", "redis-cli --cluster fix");
}

#[test]
fn a_url_that_takes_a_server_for_a_cluster_or_the_other_way_round_is_named() {
    let (cluster, redis) = (Cluster::start(), good());
    let of_cluster = redis.url().replace("redis://", "redis+cluster://");
    is_the_fault(&of_cluster, "slots", "no cluster", "write redis:// in the place of redis+cluster://");
    let node = &cluster.nodes()[0];
    node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    is_the_fault(&node.url(), "slots", "one node of a cluster", "write redis+cluster:// in the place");
}

#[tokio::test]
async fn a_silent_server_is_named_before_anybody_loses_patience() {
    let redis = good();
    redis.pause();
    let (took, (document, code)) = timed(async { findings(&redis.url(), &[]) }).await;
    redis.resume();
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(
        (code, &document["findings"][0]["value"]),
        (Some(1), &"it does not answer".into()),
        "{document:#}"
    );
}

#[test]
fn a_good_set_up_under_sentinels_is_well() {
    let sentinels = Sentinels::start();
    for server in sentinels.servers() {
        server.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    }
    let (document, code) = findings(&sentinels.url(), &[]);
    assert_eq!((code, &document["faults"]), (Some(0), &0.into()), "{document:#}");
}

#[test]
fn a_user_who_may_do_no_more_than_forebay_does_is_fine() {
    let redis = good();
    let rights = ["~*:forebay:*", "&forebay:forebay:*", "+@all", "-@admin", "-@dangerous", "+info"];
    redis.call(&[&["ACL", "SETUSER", "web", "on", ">pass"], &rights[..]].concat());

    let (document, code) = findings(&redis.url().replace("//", "//web:pass@"), &[]);

    assert_eq!((code, &document["faults"]), (Some(0), &0.into()), "{document:#}");
    let warnings: Vec<_> = of(&document, "warning").iter().map(|line| &line["check"]).collect();
    assert_eq!(warnings, ["rights"], "{document:#}");
}

#[test]
fn what_is_meant_to_be_so_can_be_accepted() {
    let redis = Redis::start();

    let (document, code) = findings(&redis.url(), &["--accept", "maxmemory", "--accept", "persistence"]);

    assert_eq!((code, &document["well"], &document["warnings"]), (Some(0), &true.into(), &0.into()));
    let accepted: Vec<_> = of(&document, "accepted").iter().map(|line| &line["check"]).collect();
    assert_eq!(accepted, ["maxmemory", "persistence"], "{document:#}");
}

#[test]
fn wrong_usage_and_wrong_settings_are_no_findings() {
    for (url, arguments) in [
        ("redis://127.0.0.1:1", ["--accept", "weather"]),
        ("http://127.0.0.1:1", ["--accept", "clock"]),
        ("redis+cluster://127.0.0.1:1/1", ["--accept", "clock"]),
    ] {
        let output = examine(url, &arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_memory_store_has_nothing_to_examine() {
    let output = run(&["doctor"], &[], None);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("FOREBAY_REDIS_URL"), "{output:?}");
    let document: Value = serde_json::from_slice(&run(&["doctor", "--json"], &[], None).stdout).unwrap();
    assert_eq!((&document["store"], &document["well"]), (&"memory".into(), &true.into()));
}
