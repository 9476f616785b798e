//! What the doctor finds; that each broken set-up is named is tested where it is printed.

use std::time::Duration;

use forebay::{
    health::{Check, Diagnosis, Verdict},
    testing::Proxy,
};
use forebay_rig::{Cluster, Redis};

use crate::{PATIENCE, on};

fn faults(diagnosis: &Diagnosis) -> Vec<Check> {
    diagnosis.findings.iter().filter(|finding| finding.is_fault()).map(|finding| finding.check).collect()
}

fn verdict(diagnosis: &Diagnosis, check: Check) -> &Verdict {
    &diagnosis.findings.iter().find(|finding| finding.check == check).unwrap().verdict
}

#[tokio::test]
async fn a_good_set_up_has_no_fault_and_is_left_as_it_was() {
    let redis = Redis::with(&["--maxmemory", "64mb"]);
    let forebay = on(&redis.url()).await;

    let diagnosis = forebay.diagnose().await;

    assert_eq!(faults(&diagnosis), [], "{diagnosis:#?}");
    let checks: Vec<_> = diagnosis.findings.iter().map(|finding| finding.check).collect();
    assert_eq!(checks, Check::ALL);
    assert!(matches!(verdict(&diagnosis, Check::Slots), Verdict::Skipped { .. }));
    assert_eq!(redis.call(&["KEYS", "*"]), "");
}

#[tokio::test]
async fn a_good_cluster_has_no_fault() {
    let cluster = Cluster::start();
    for node in cluster.nodes() {
        node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    }
    let forebay = on(&cluster.url()).await;

    let diagnosis = forebay.diagnose().await;

    assert_eq!(faults(&diagnosis), [], "{diagnosis:#?}");
    assert_eq!(*verdict(&diagnosis, Check::Slots), Verdict::Well);
    assert!(cluster.nodes().iter().all(|node| node.call(&["KEYS", "*"]).is_empty()));
}

#[tokio::test]
async fn every_command_that_is_not_allowed_is_named() {
    let redis = Redis::with(&["--maxmemory", "64mb"]);
    for command in ["eval", "hset", "xgroup", "pfadd", "publish", "set", "subscribe"] {
        let denied = format!("-{command}");
        redis.call(&["ACL", "SETUSER", "web", "on", ">pass", "~*", "&*", "+@all", &denied]);
        let forebay = on(&redis.url().replace("//", "//web:pass@")).await;

        let diagnosis = forebay.diagnose().await;

        let Verdict::Fault { remedy } = verdict(&diagnosis, Check::Rights) else {
            panic!("{command}: {diagnosis:#?}");
        };
        assert!(remedy.contains("SETUSER web ") && remedy.contains(&format!("+{command} ")), "{remedy}");
        // What follows from it is no fault of its own.
        assert_eq!(faults(&diagnosis), [Check::Rights], "{command}: {diagnosis:#?}");
        redis.call(&["ACL", "DELUSER", "web"]);
    }
    assert_eq!(redis.keys_without_expiry(), [""; 0]);
}

#[tokio::test]
async fn what_one_node_of_a_cluster_does_not_allow_is_named_with_that_node() {
    let cluster = Cluster::start();
    let allow = |node: &Redis, denied: &[&str]| {
        let all = ["ACL", "SETUSER", "web", "on", ">pass", "~*", "&*", "+@all"];
        node.call(&[&all, denied].concat());
    };
    for node in cluster.nodes() {
        node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
        allow(node, &[]);
    }
    let url = cluster.url().replace("//", "//web:pass@");
    // The one that is asked first is looked at last.
    for node in cluster.nodes().iter().rev() {
        allow(node, &["-zcount", "-evalsha"]);

        let diagnosis = on(&url).await.diagnose().await;

        assert_eq!(faults(&diagnosis), [Check::Rights], "{diagnosis:#?}");
        let finding = diagnosis.findings.iter().find(|finding| finding.check == Check::Rights).unwrap();
        let place = format!("at 127.0.0.1:{}: EVALSHA, ZCOUNT", node.port());
        assert!(finding.value.contains(&place), "{place}: {finding:?}");
        allow(node, &[]);
    }
    let diagnosis = on(&url).await.diagnose().await;
    assert_eq!(*verdict(&diagnosis, Check::Rights), Verdict::Well, "{diagnosis:#?}");
}

#[tokio::test]
async fn keys_outside_of_what_is_allowed_are_a_matter_of_rights() {
    let redis = Redis::with(&["--maxmemory", "64mb"]);
    redis.call(&["SET", "lock:shop:{by hand}", "1"]);
    redis.call(&["ACL", "SETUSER", "web", "on", ">pass", "~cache:shop:*", "&forebay:shop:*", "+@all"]);
    let diagnosis = on(&redis.url().replace("//", "//web:pass@")).await.diagnose().await;
    let Verdict::Fault { remedy } = verdict(&diagnosis, Check::Rights) else { panic!("{diagnosis:#?}") };
    assert!(remedy.contains("~*:shop:*"), "{remedy}");
    // One that lives for ever, of which nobody may say that all is well.
    assert!(matches!(verdict(&diagnosis, Check::Expiry), Verdict::Skipped { .. }), "{diagnosis:#?}");
    redis.call(&["DEL", "lock:shop:{by hand}"]);

    redis.call(&["ACL", "SETUSER", "web", "~*:shop:*"]);
    let diagnosis = on(&redis.url().replace("//", "//web:pass@")).await.diagnose().await;
    assert_eq!(faults(&diagnosis), [], "{diagnosis:#?}");
}

#[tokio::test]
async fn what_could_not_be_tried_is_not_called_well() {
    let redis = Redis::with(&["--maxmemory", "64mb"]);
    let forebay = on(&redis.url()).await;
    // Full: each of the keys that commands are tried on is refused.
    redis.call(&["CONFIG", "SET", "maxmemory", "1"]);

    let diagnosis = forebay.diagnose().await;

    let Verdict::Skipped { reason } = verdict(&diagnosis, Check::Rights) else { panic!("{diagnosis:#?}") };
    assert!(reason.contains("OOM"), "{reason}");
    assert_eq!(faults(&diagnosis), [Check::MaxMemory], "{diagnosis:#?}");
}

#[tokio::test]
async fn a_database_of_which_only_some_keys_were_seen_is_not_called_empty() {
    let redis = Redis::with(&["--maxmemory", "512mb"]);
    let script = "for n = 1, 50000 do redis.call('SET', 'other:' .. n, 'x', 'PX', 600000) end";
    redis.call(&["EVAL", script, "0"]);
    let name = (0..).map(|n| format!("claim:shop:{{{n}}}")).find(|key| {
        redis.call(&["SET", key, "x", "PX", "600000"]);
        let is_late = !first_pages(&redis).contains(key);
        is_late || redis.call(&["DEL", key]).is_empty()
    });
    redis.call(&[
        "EVAL",
        "redis.call('SELECT', 3) redis.call('SET', KEYS[1], 'x', 'PX', 600000)",
        "1",
        &name.unwrap(),
    ]);
    let forebay = on(&redis.url()).await;

    let diagnosis = forebay.diagnose().await;

    let Verdict::Warning { remedy } = verdict(&diagnosis, Check::Database) else { panic!("{diagnosis:#?}") };
    assert!(remedy.contains("/3"), "{remedy}");
    assert_eq!(faults(&diagnosis), [], "{diagnosis:#?}");

    redis.call(&["FLUSHDB"]);
    assert_eq!(faults(&forebay.diagnose().await), [Check::Database]);
}

/// The keys of the application among the first five pages of a thousand.
fn first_pages(redis: &Redis) -> String {
    let script = "local cursor, found = '0', {} \
                  for _ = 1, 5 do \
                    local page = redis.call('SCAN', cursor, 'MATCH', '*:shop:*', 'COUNT', 1000) \
                    cursor = page[1] \
                    for _, key in ipairs(page[2]) do found[#found + 1] = key end \
                    if cursor == '0' then break end \
                  end \
                  return table.concat(found, ' ')";
    redis.call(&["EVAL", script, "0"])
}

#[tokio::test]
async fn a_server_that_falls_silent_is_asked_nothing_more() {
    let redis = Redis::with(&["--maxmemory", "64mb"]);
    let proxy = Proxy::start(format!("127.0.0.1:{}", redis.port())).await.unwrap();
    let forebay = on(&proxy.url()).await;
    // Whatever is tried on a key.
    proxy.drop_requests(u64::MAX, "doctor-");

    let diagnosis = forebay.diagnose().await;

    assert_eq!(proxy.dropped(), 1, "{diagnosis:#?}");
    assert_eq!(faults(&diagnosis), [Check::Rights], "{diagnosis:#?}");
    let Verdict::Fault { remedy } = verdict(&diagnosis, Check::Rights) else { panic!("{diagnosis:#?}") };
    // No budget changes how long is waited here.
    assert!(remedy.contains("still runs") && !remedy.contains("redis.budget"), "{remedy}");
    let after = diagnosis.findings.iter().skip_while(|finding| !finding.is_fault()).skip(1);
    for finding in after {
        let expected = Verdict::Skipped { reason: "it no longer answers".to_owned() };
        assert_eq!(finding.verdict, expected, "{finding:?}");
    }
}

#[tokio::test]
async fn a_node_of_a_cluster_that_falls_silent_is_named_and_the_others_are_still_tried() {
    let cluster = Cluster::start();
    for node in cluster.nodes() {
        node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    }
    let proxy = in_front_of(&cluster, 2).await;
    let forebay = on(&cluster.url()).await;
    // The string that commands are tried on.
    proxy.drop_requests(u64::MAX, "doctor\r\n$2\r\nPX");

    let diagnosis = forebay.diagnose().await;

    assert_eq!(proxy.dropped(), 1, "{diagnosis:#?}");
    assert_eq!(faults(&diagnosis), [Check::Rights], "{diagnosis:#?}");
    let finding = diagnosis.findings.iter().find(|finding| finding.is_fault()).unwrap();
    let reason = format!("{} no longer answers", proxy.addr());
    assert!(finding.value.contains(&reason), "{finding:?}");
    assert_eq!(*verdict(&diagnosis, Check::Scripts), Verdict::Well, "{diagnosis:#?}");

    // What another one does not allow is told all the same.
    for node in &cluster.nodes()[..2] {
        node.call(&["ACL", "SETUSER", "default", "-zcount"]);
    }
    let diagnosis = forebay.diagnose().await;
    assert_eq!(faults(&diagnosis), [Check::Rights], "{diagnosis:#?}");
    let Verdict::Fault { remedy } = verdict(&diagnosis, Check::Rights) else { panic!("{diagnosis:#?}") };
    assert!(remedy.contains("+zcount"), "{remedy}");
}

/// Has everybody take this way to a node.
async fn in_front_of(cluster: &Cluster, place: usize) -> Proxy {
    let node = &cluster.nodes()[place];
    let proxy = Proxy::start(format!("127.0.0.1:{}", node.port())).await.unwrap();
    let port = proxy.addr().port().to_string();
    node.call(&["CONFIG", "SET", "cluster-announce-port", &port]);
    let known = async {
        while !cluster.nodes().iter().all(|node| node.call(&["CLUSTER", "SLOTS"]).contains(&port)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, known).await.expect("all nodes know the way");
    proxy
}
