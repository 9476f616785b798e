//! A filter whose slot moves, or whose node dies.

use std::time::Duration;

use forebay::{
    Error,
    clock::Clock,
    filter::{Answer, Filter},
};
use forebay_rig::{Cluster, Redis};

use crate::stage::{Stage, does, pass};

const BUDGET: Duration = Duration::from_secs(1);
const POINTER: &str = "filter:cluster:{known}";
const PATIENCE: Duration = Duration::from_secs(10);

async fn filled(stage: &Stage) -> Filter {
    let builder = stage.forebay.filter("known", 1_000, 1e-6);
    let known = builder.visible_within(Duration::ZERO).build().unwrap();
    fill(&known).await;
    known
}

/// Fills it with `a`, as soon as it can be asked.
async fn fill(known: &Filter) {
    let filling = async {
        while known.rebuild(async |fresh| fresh.add_all(["a"]).await).await.is_err() {
            pass(Duration::from_millis(20)).await;
        }
    };
    Clock::real().timeout(PATIENCE, filling).await.expect("the cluster can be asked");
    let answers = known.check_all(["a", "b"]).await;
    assert_eq!(answers, [Answer::Maybe, Answer::No]);
}

/// Adds as soon as it can be asked.
async fn add(known: &Filter, id: &str) {
    let adding = async {
        while known.add(id).await.is_err() {
            pass(Duration::from_millis(20)).await;
        }
    };
    Clock::real().timeout(PATIENCE, adding).await.expect("the cluster can be asked");
}

/// The place of the node that has the filter.
fn home(cluster: &Cluster) -> usize {
    let has = |node: &Redis| node.call(&["EXISTS", POINTER]) == "1";
    cluster.nodes().iter().position(has).expect("some node has it")
}

#[tokio::test]
async fn a_filter_that_has_moved_to_another_node_is_believed_after_a_rebuild_only() {
    let cluster = Cluster::start();
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    let known = filled(&stage).await;
    let (from, to) = (home(&cluster), (home(&cluster) + 1) % 3);
    let nodes = cluster.nodes();
    let names = [from, to].map(|place| nodes[place].call(&["CLUSTER", "MYID"]));
    let slot = nodes[0].call(&["CLUSTER", "KEYSLOT", POINTER]);
    does(&nodes[to], &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &names[0]]);
    does(&nodes[from], &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &names[1]]);
    let keys = nodes[from].call(&["CLUSTER", "GETKEYSINSLOT", &slot, "10"]);
    assert_eq!(keys.lines().count(), 2, "{keys}");
    for key in keys.lines() {
        does(&nodes[from], &["MIGRATE", "127.0.0.1", &nodes[to].port().to_string(), key, "0", "5000"]);
        // One key here, the other there: nobody can say.
        assert_eq!(known.check("b").await, Answer::Maybe);
    }
    for place in [to, from, 3 - from - to] {
        does(&nodes[place], &["CLUSTER", "SETSLOT", &slot, "NODE", &names[1]]);
    }
    add(&known, "c").await;
    assert_eq!(known.check("b").await, Answer::Maybe);
    fill(&known).await;
    assert_eq!(home(&cluster), to);
}

#[tokio::test]
async fn a_filter_of_a_node_that_has_died_is_believed_after_a_rebuild_only() {
    let cluster = Cluster::start();
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    let known = filled(&stage).await;
    let home = home(&cluster);
    let replica = cluster.replica(home);
    // A node that gets its first replica begins a history of its own.
    fill(&known).await;
    let synced = async {
        while replica.call(&["DBSIZE"]) != "2" {
            pass(Duration::from_millis(5)).await;
        }
    };
    Clock::real().timeout(PATIENCE, synced).await.expect("the replica has all");
    cluster.nodes()[home].kill();
    assert_eq!(known.check("b").await, Answer::Maybe);
    assert_eq!(replica.call(&["CLUSTER", "FAILOVER", "TAKEOVER"]), "OK");
    add(&known, "c").await;
    assert_eq!(known.check("b").await, Answer::Maybe);
    fill(&known).await;
    let _done = known.rebuild(async |_| Ok::<_, Error>(())).await.unwrap();
    assert_eq!(known.check("a").await, Answer::No);
}
