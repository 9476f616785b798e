//! A replica that takes the place of its node, and knows less than that did.

use std::{collections::HashMap, time::Duration};

use forebay::{
    clock::Clock,
    topic::{Consumer, Delivery, Durable, Retention},
};
use forebay_rig::{Cluster, Redis};

use crate::stage::{Stage, pass};

const VISIBILITY: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(20);

/// A topic that the node has.
fn topic_at(stage: &Stage, node: &Redis) -> Durable {
    let is_there =
        |name: &String| !node.call(&["EXISTS", &format!("stream:cluster:{{{name}}}")]).starts_with("-MOVED");
    let name = (0..).map(|number| format!("orders-{number}")).find(is_there).unwrap();
    let retention = Retention { max_len: 1000, keep_for: Duration::from_secs(600) };
    stage.forebay.topic(&name).durable(retention).unwrap()
}

async fn taken(consumer: &mut Consumer, count: usize) -> Vec<Delivery> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let some = Clock::real().timeout(PATIENCE, consumer.next_many(count - taken.len())).await;
        taken.extend(some.expect("something is delivered"));
    }
    taken
}

/// How far a node has written, or its replica has followed.
fn written(node: &Redis, offset: &str) -> Option<String> {
    let info = node.call(&["INFO", "replication"]);
    let line = info.lines().find_map(|line| line.strip_prefix(offset)?.strip_prefix(':').map(str::to_owned));
    line.map(|number| number.trim().to_owned())
}

async fn until(fact: impl Fn() -> bool) {
    let waiting = async {
        while !fact() {
            pass(Duration::from_millis(5)).await;
        }
    };
    Clock::real().timeout(PATIENCE, waiting).await.expect("it comes true");
}

// S1: what was acknowledged to a node that has failed is delivered once more by the next; a handler that can be asked
// twice does it once.
#[tokio::test]
async fn what_a_failover_has_forgotten_is_delivered_again_and_done_once() {
    let cluster = Cluster::start();
    let replica = cluster.replica(2);
    let node = &cluster.nodes()[2];
    let stage = Stage::at(cluster.url(), Duration::from_secs(1)).await;
    stage.in_use().await;
    let topic = topic_at(&stage, node);
    let mut consumer = topic.group("billing").visibility(VISIBILITY).build().unwrap().consumer("one");
    for number in 0..10 {
        topic.publish(number.to_string()).await.unwrap();
    }
    let given = taken(&mut consumer, 10).await;
    // What WAIT waits for are the writes of its own connection.
    until(|| written(node, "master_repl_offset") == written(&replica, "slave_repl_offset")).await;
    let key = format!("stream:cluster:{{{}}}", topic.name());

    // From now on the replica hears nothing.
    replica.pause();
    node.call(&["CLIENT", "KILL", "TYPE", "replica"]);
    let mut done = HashMap::new();
    for delivery in given {
        *done.entry(delivery.id).or_insert(0) += 1;
        assert!(delivery.ack().await.unwrap());
    }
    assert!(node.call(&["XPENDING", &key, "billing"]).starts_with('0'));
    node.kill();
    replica.resume();
    until(|| replica.call(&["CLUSTER", "FAILOVER", "TAKEOVER"]) == "OK").await;

    for delivery in taken(&mut consumer, 10).await {
        // A failover may have forgotten that it was delivered, too.
        assert!((1..=2).contains(&delivery.attempts), "{delivery:?}");
        // Its id says that it was done.
        let times = done.get_mut(&delivery.id).expect("nothing else was published");
        if *times == 0 {
            *times += 1;
        }
        delivery.ack().await.unwrap();
    }
    assert!(done.len() == 10 && done.values().all(|times| *times == 1), "{done:?}");
    assert_eq!(replica.keys_without_expiry(), Vec::<String>::new());
}
