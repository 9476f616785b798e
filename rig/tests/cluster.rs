//! The cluster of the rig as tests use it.

use std::time::Duration;

use forebay_rig::{Cluster, Redis, Replicated};

#[test]
fn each_key_is_taken_by_one_node_and_each_node_takes_some() {
    let cluster = Cluster::start();
    for number in 0..50 {
        let takes = |node: &&Redis| node.call(&["SET", &format!("key {number}"), "value"]) == "OK";
        assert_eq!(cluster.nodes().iter().filter(takes).count(), 1);
    }
    assert!(cluster.nodes().iter().all(|node| node.call(&["DBSIZE"]) != "0"));
}

#[test]
fn the_address_names_every_node() {
    let cluster = Cluster::start();
    let [a, b, c] = [0, 1, 2].map(|node| cluster.nodes()[node].url().replace("redis://", ""));
    assert_eq!(cluster.url(), format!("redis+cluster://{a},{b},{c}"));
}

#[test]
fn keys_that_would_stay_for_ever_are_told_of_every_node() {
    let cluster = Cluster::start();
    for number in 0..50 {
        for node in cluster.nodes() {
            node.call(&["SET", &format!("short {number}"), "value", "EX", "60"]);
            node.call(&["SET", &format!("forever {number}"), "value"]);
        }
    }
    assert_eq!(cluster.keys_without_expiry().len(), 50);
}

#[test]
fn a_node_that_is_restarted_is_empty_and_keeps_its_slots() {
    let cluster = Cluster::start();
    // The slot of `foo` is 12182.
    let set = |value| cluster.nodes()[2].call(&["SET", "foo", value, "GET"]);
    assert_eq!([set("first"), set("second")], ["(nil)", "first"]);
    cluster.nodes()[2].restart();
    cluster.settle();
    assert_eq!(set("third"), "(nil)");
}

#[test]
fn a_replica_has_what_its_node_has_and_takes_its_place() {
    let cluster = Cluster::start();
    // The slot of `foo` is 12182.
    cluster.nodes()[2].call(&["SET", "foo", "first", "EX", "60"]);
    let replica = cluster.replica(2);
    cluster.nodes()[2].kill();
    assert_eq!(replica.call(&["CLUSTER", "FAILOVER", "TAKEOVER"]), "OK");
    assert_eq!(replica.call(&["SET", "foo", "second", "GET", "EX", "60"]), "first");
}

#[test]
fn a_cluster_under_a_clock_outlives_its_steps() {
    let (cluster, clock) = Cluster::with_clock();
    // The slot of `foo` is 12182.
    let set = |value| cluster.nodes()[2].call(&["SET", "foo", value, "GET", "EX", "60"]);
    assert_eq!([set("first"), set("second")], ["(nil)", "first"]);
    clock.step_back(Duration::from_hours(1));
    assert_eq!(set("third"), "second");
    clock.advance(Duration::from_hours(1000));
    assert_eq!(set("fourth"), "(nil)");
    let times = cluster.nodes().iter().map(|node| node.call(&["TIME"]));
    assert!(times.is_sorted_by(|one, other| one == other));
}

#[test]
fn a_pair_keeps_its_keys_whichever_of_the_two_leads() {
    let cluster = Replicated::start();
    // The slot of `foo` is 12182.
    let set = |value| cluster.primary(2).call(&["SET", "foo", value, "GET", "EX", "60"]);
    assert_eq!(set("first"), "(nil)");
    let before = cluster.primary(2).port();
    cluster.fail_over(2);
    assert_ne!(cluster.primary(2).port(), before);
    assert_eq!(set("second"), "first");
    let synced = cluster.primary(2).call(&["WAIT", "1", "5000"]);
    assert_eq!(synced, "1");
    cluster.kill_primary(2);
    assert_eq!(cluster.primary(2).port(), before);
    assert_eq!(set("third"), "second");
}

#[test]
fn a_slot_is_moved_with_its_keys_and_its_lives() {
    let cluster = Replicated::start();
    let slot = cluster.slot("foo");
    cluster.primary(2).call(&["SET", "foo", "first", "EX", "60"]);
    for place in [0, 1, 2] {
        cluster.move_slot(slot);
        assert_eq!(cluster.primary(place).call(&["GET", "foo"]), "first");
    }
    assert_eq!(cluster.keys_without_expiry(), Vec::<String>::new());
}
