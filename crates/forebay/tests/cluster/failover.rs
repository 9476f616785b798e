//! A replica that takes the place of its node: what was counted still counts.

use std::time::Duration;

use forebay::{
    Subject,
    clock::Clock,
    limiter::{Decision, Limiter, OnOutage, Tiers},
};
use forebay_rig::{Cluster, Redis};

use crate::stage::{Stage, pass};

const LIMIT: u64 = 100_000;

/// How soon the new node is asked: the cluster has to be learnt anew.
const SOON: Duration = Duration::from_secs(10);

fn key(subject: &Subject) -> String {
    format!("rate_limit:cluster:api:{{{subject}}}")
}

/// Somebody whose key the node at `place` has.
fn subject_at(node: &Redis) -> Subject {
    let mut subjects = (0..).map(Subject::user);
    let found = subjects.find(|subject| !node.call(&["EXISTS", &key(subject)]).starts_with("-MOVED"));
    found.expect("some key is the node's")
}

/// What is left after a call, or that Redis could not be asked.
async fn ask(limiter: &Limiter, subject: &Subject) -> Option<u64> {
    match limiter.check(subject, "free").await {
        Decision::Allowed(quota) => Some(quota.remaining()),
        Decision::Unavailable { .. } => None,
        other => panic!("far below the limit: {other:?}"),
    }
}

/// Asks until there is an answer, and says how often in vain.
async fn ask_until_answered(limiter: &Limiter, subject: &Subject) -> (u64, u32) {
    let mut vain = 0;
    loop {
        match ask(limiter, subject).await {
            Some(left) => return (left, vain),
            None => vain += 1,
        }
        pass(Duration::from_millis(5)).await;
    }
}

/// How much of what its node has written a server knows of.
fn offset(server: &Redis, role: &str) -> String {
    let replication = server.call(&["INFO", "replication"]);
    let line = replication.lines().find_map(|line| line.strip_prefix(role)?.strip_prefix("_repl_offset:"));
    line.unwrap_or_else(|| panic!("no {role}: {replication}")).to_owned()
}

async fn in_step(node: &Redis, replica: &Redis) {
    while offset(node, "master") != offset(replica, "slave") {
        pass(Duration::from_millis(5)).await;
    }
}

// R47: the new node knows no scripts, which Redisson takes for an error.
#[tokio::test]
async fn a_quota_outlives_the_node_that_counted_it() {
    let cluster = Cluster::start();
    let replica = cluster.replica(2);
    let stage = Stage::at(cluster.url(), Duration::from_secs(1)).await;
    stage.in_use().await;
    let tiers = Tiers::new().tier("free", ["100000/hour"]).unwrap();
    let limiter = stage.forebay.limiter("api", tiers).on_outage(OnOutage::Closed).build().unwrap();
    let who = subject_at(&cluster.nodes()[2]);
    for n in 1..=50 {
        assert_eq!(ask(&limiter, &who).await, Some(LIMIT - n));
    }
    in_step(&cluster.nodes()[2], &replica).await;
    let load = {
        let (limiter, who) = (limiter.clone(), who.clone());
        tokio::spawn(async move {
            loop {
                ask(&limiter, &who).await;
                pass(Duration::from_millis(2)).await;
            }
        })
    };
    pass(Duration::from_millis(100)).await;
    cluster.nodes()[2].kill();
    assert_eq!(replica.call(&["CLUSTER", "FAILOVER", "TAKEOVER"]), "OK");
    let answered = Clock::real().timeout(SOON, ask_until_answered(&limiter, &who)).await;
    let (left, vain) = answered.unwrap_or_else(|| panic!("nobody is asked: {:?}", stage.status()));
    println!("{vain} calls in vain, then {left} left");
    assert!(left < LIMIT - 50, "{left} are left: what was counted is forgotten");
    for _ in 0..50 {
        assert!(ask(&limiter, &who).await.is_some(), "{:?}", stage.status());
    }
    load.abort();
    assert_eq!(replica.keys_without_expiry(), Vec::<String>::new());
}
