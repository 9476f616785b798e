//! What the doctor says of servers that answer, and refuse: the cause is named, with its place and what to do.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    time::Duration,
};

use forebay::{
    Forebay,
    health::{Check, Diagnosis, Finding, Verdict},
    testing::Proxy,
};
use forebay_rig::{Cluster, Redis, Sentinels};
use tokio::time::{sleep, timeout};

use crate::{PATIENCE, on};

const GOOD: [&str; 2] = ["--maxmemory", "64mb"];

/// Examined without waiting for a connection, which may never come.
async fn diagnosed(url: &str) -> Diagnosis {
    let forebay =
        Forebay::builder("shop").redis(url).redis_budget(Duration::from_secs(5)).build().await.unwrap();
    forebay.diagnose().await
}

fn finding(diagnosis: &Diagnosis, check: Check) -> &Finding {
    diagnosis.findings.iter().find(|finding| finding.check == check).unwrap()
}

/// This check alone is a fault; its value and its remedy say so.
#[track_caller]
fn is_the_fault(diagnosis: &Diagnosis, check: Check, value: &str, remedy: &str) {
    let faults = diagnosis.findings.iter().filter(|finding| finding.is_fault()).map(|finding| finding.check);
    assert_eq!(faults.collect::<Vec<_>>(), [check], "{diagnosis:#?}");
    says(diagnosis, check, value, remedy);
}

/// This check is a fault or a warning; its value and its remedy say so.
#[track_caller]
fn says(diagnosis: &Diagnosis, check: Check, value: &str, remedy: &str) {
    let Finding { value: seen, verdict, .. } = finding(diagnosis, check);
    assert!(seen.contains(value), "{value}: {diagnosis:#?}");
    match verdict {
        Verdict::Fault { remedy: told } | Verdict::Warning { remedy: told } => {
            assert!(told.contains(remedy), "{remedy}: {told}");
        }
        _ => panic!("{check}: {diagnosis:#?}"),
    }
}

async fn until(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, waiting).await.expect("it comes to that");
}

#[tokio::test]
async fn a_server_that_tells_nothing_of_itself_is_not_called_well() {
    let redis = Redis::with(&GOOD);
    let port = without_info(redis.port());
    let diagnosis = diagnosed(&format!("redis://127.0.0.1:{port}")).await;
    is_the_fault(
        &diagnosis,
        Check::Version,
        "no command INFO",
        "rename-command of INFO: without it no filter",
    );
    for check in [Check::MaxMemory, Check::Eviction, Check::Clock, Check::Persistence] {
        let verdict = &finding(&diagnosis, check).verdict;
        assert!(matches!(verdict, Verdict::Skipped { .. }), "{check}: {diagnosis:#?}");
    }

    let redis = Redis::with(&GOOD);
    redis.call(&["ACL", "SETUSER", "web", "on", ">pass", "~*", "&*", "+@all", "-info"]);
    let diagnosis = diagnosed(&redis.url().replace("//", "//web:pass@")).await;
    is_the_fault(&diagnosis, Check::Version, "the user may not ask for INFO", "ACL SETUSER web +info");
}

/// A way to the server on which it has no command INFO: the rig itself needs that.
fn without_info(server: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(count @ 1..) = from.read(&mut buffer) {
                    // Of the same length; `CLIENT INFO` stays.
                    let asked = String::from_utf8_lossy(&buffer[..count]);
                    let other = ["*1", "*2"].map(|count| format!("{count}\r\n$4\r\n"));
                    let asked = other.iter().fold(asked.into_owned(), |asked, before| {
                        asked.replace(&format!("{before}INFO"), &format!("{before}IMFO"))
                    });
                    to.write_all(asked.as_bytes()).unwrap();
                }
            });
            let (mut from, mut to) = (server, client);
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        }
    });
    port
}

#[tokio::test]
async fn a_command_that_the_server_does_not_have_is_named() {
    let checks = [
        ("EVALSHA", Check::Rights),
        ("PUBLISH", Check::Rights),
        ("SUBSCRIBE", Check::Rights),
        ("PTTL", Check::Rights),
        ("SCAN", Check::Rights),
        ("SET", Check::Rights),
        ("TIME", Check::Rights),
        ("CONFIG", Check::Rights),
        ("CLIENT", Check::Tracking),
    ];
    for (command, check) in checks {
        let redis = Redis::with(&[&GOOD[..], &["--rename-command", command, ""]].concat());
        let diagnosis = diagnosed(&redis.url()).await;
        says(&diagnosis, check, "no", &format!("undo the rename-command of {command}"));
        assert!(finding(&diagnosis, check).value.contains(command), "{diagnosis:#?}");
        // What is only of use to this examination, or to few, is no fault.
        let extra = ["CONFIG", "CLIENT"].contains(&command);
        let faults = diagnosis.findings.iter().filter(|finding| finding.is_fault());
        assert_eq!(faults.count(), usize::from(!extra), "{command}: {diagnosis:#?}");
    }
}

#[tokio::test]
async fn a_subscription_that_is_not_answered_is_named() {
    let redis = Redis::with(&GOOD);
    let proxy = Proxy::start(format!("127.0.0.1:{}", redis.port())).await.unwrap();
    let forebay = on(&proxy.url()).await;
    proxy.drop_requests(u64::MAX, "SUBSCRIBE");
    let diagnosis = forebay.diagnose().await;
    is_the_fault(&diagnosis, Check::Rights, "no answer: SUBSCRIBE", "proxy");
}

/// Has a server run a script that only SCRIPT KILL ends, and waits until it says so.
async fn busy(redis: &Redis) -> TcpStream {
    let mut connection = TcpStream::connect(("127.0.0.1", redis.port())).unwrap();
    connection.write_all(b"EVAL \"while true do end\" 0\r\n").unwrap();
    until(|| redis.call(&["GET", "a"]).contains("BUSY")).await;
    connection
}

#[tokio::test]
async fn a_script_without_an_end_is_named() {
    let redis = Redis::with(&[&GOOD[..], &["--lua-time-limit", "20"]].concat());
    let _endless = busy(&redis).await;
    let diagnosis = diagnosed(&redis.url()).await;
    redis.call(&["SCRIPT", "KILL"]);
    is_the_fault(&diagnosis, Check::Reachable, "BUSY", "SCRIPT KILL");
}

#[tokio::test]
async fn a_server_that_reads_its_data_is_named() {
    let directory = Directory::new("loading");
    let slow = ["--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024"];
    let place = ["--dir", directory.0.to_str().unwrap()];
    let redis = Redis::with(&[&GOOD[..], &slow, &place].concat());
    let script = "for n = 1, 30000 do redis.call('SET', n, string.rep('x', 200), 'PX', 600000) end";
    redis.call(&["EVAL", script, "0"]);
    redis.call(&["CONFIG", "SET", "key-load-delay", "2000"]);
    let mut connection = TcpStream::connect(("127.0.0.1", redis.port())).unwrap();
    connection.write_all(b"DEBUG RELOAD\r\n").unwrap();
    until(|| redis.call(&["GET", "a"]).contains("LOADING")).await;

    let diagnosis = diagnosed(&redis.url()).await;

    redis.call(&["CONFIG", "SET", "key-load-delay", "0"]);
    is_the_fault(&diagnosis, Check::Reachable, "loading its data", "wait until");
}

#[tokio::test]
async fn a_server_that_cannot_save_is_named_whoever_asks() {
    let directory = Directory::new("misconf");
    let redis = Redis::with(&[&GOOD[..], &["--dir", directory.0.to_str().unwrap()]].concat());
    redis.call(&["CONFIG", "SET", "save", "3600 1000000"]);
    redis.call(&["ACL", "SETUSER", "blind", "on", ">pass", "~*", "&*", "+@all", "-info"]);
    drop(directory);
    redis.call(&["BGSAVE"]);
    until(|| redis.field("persistence", "rdb_last_bgsave_status").as_deref() == Some("err")).await;

    is_the_fault(&diagnosed(&redis.url()).await, Check::Persistence, "MISCONF", "space on its disk");
    let diagnosis = diagnosed(&redis.url().replace("//", "//blind:pass@")).await;
    says(&diagnosis, Check::Persistence, "MISCONF", "space on its disk");
    says(&diagnosis, Check::Version, "INFO", "+info");
}

#[tokio::test]
async fn a_server_without_enough_replicas_is_named() {
    let redis = Redis::with(&GOOD);
    redis.call(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    is_the_fault(&diagnosed(&redis.url()).await, Check::Replication, "NOREPLICAS", "min-replicas-to-write 0");
}

#[tokio::test]
async fn each_node_of_a_cluster_is_named_with_what_is_wrong_there() {
    let cluster = Cluster::start();
    let nodes = cluster.nodes();
    let user = ["ACL", "SETUSER", "web", "on", ">pass", "~*", "&*", "+@all"];
    for node in nodes {
        node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
        node.call(&user);
    }
    let (url, last) = (cluster.url().replace("//", "//web:pass@"), &nodes[2]);
    let says_there = |why: &str| format!("127.0.0.1:{}: {why}", last.port());

    last.call(&["ACL", "DELUSER", "web"]);
    let diagnosis = diagnosed(&url).await;
    is_the_fault(
        &diagnosis,
        Check::Credentials,
        &says_there("it answers WRONGPASS"),
        "each node of a cluster",
    );
    last.call(&[&user[..], &["-info"]].concat());
    is_the_fault(&diagnosed(&url).await, Check::Version, &says_there("the user may not ask"), "+info");
    last.call(&user);

    last.call(&["CONFIG", "SET", "lua-time-limit", "20"]);
    let endless = busy(last).await;
    let diagnosis = diagnosed(&url).await;
    last.call(&["SCRIPT", "KILL"]);
    drop(endless);
    is_the_fault(&diagnosis, Check::Reachable, &says_there("a script runs"), "SCRIPT KILL");

    last.pause();
    let diagnosis = diagnosed(&url).await;
    last.resume();
    is_the_fault(&diagnosis, Check::Reachable, &says_there("it does not answer"), "start that node");

    last.kill();
    let diagnosis = diagnosed(&url).await;
    is_the_fault(&diagnosis, Check::Reachable, &says_there("it refuses connections"), "start that node");
}

#[tokio::test]
async fn a_node_that_takes_the_cluster_for_broken_is_named() {
    let cluster = Cluster::start();
    let [first, second, last] = cluster.nodes() else { panic!("three nodes") };
    for node in cluster.nodes() {
        node.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    }
    // For a minute it knows nobody, and the others know it.
    for other in [first, second] {
        last.call(&["CLUSTER", "FORGET", &other.call(&["CLUSTER", "MYID"])]);
    }
    until(|| last.call(&["CLUSTER", "INFO"]).contains("cluster_state:fail")).await;

    let diagnosis = diagnosed(&first.url().replace("redis://", "redis+cluster://")).await;

    let value = format!("127.0.0.1:{} has the cluster for broken", last.port());
    is_the_fault(&diagnosis, Check::Slots, &value, "CLUSTER NODES");
}

#[tokio::test]
async fn sentinels_of_which_none_answers_are_named() {
    let diagnosis = diagnosed("redis+sentinel://127.0.0.1:1,127.0.0.1:2/main").await;
    let value = "127.0.0.1:1: it refuses connections; 127.0.0.1:2: it refuses connections";
    is_the_fault(&diagnosis, Check::Reachable, value, "start the sentinels");
}

#[tokio::test]
async fn what_is_wrong_with_sentinels_or_with_what_they_name_is_told_apart() {
    let sentinels = Sentinels::start();
    for server in sentinels.servers() {
        server.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    }
    let diagnosis = diagnosed(&sentinels.url_of("other")).await;
    is_the_fault(&diagnosis, Check::Reachable, "it does not know the name", "sentinel monitor");

    let (primary, gone) = (sentinels.primary().port(), &sentinels.sentinels()[2]);
    gone.kill();
    let diagnosis = diagnosed(&sentinels.url()).await;
    let value = format!("it takes writes, but of the sentinels, 127.0.0.1:{}: it refuses", gone.port());
    says(&diagnosis, Check::Primary, &value, "start them");
    assert!(diagnosis.findings.iter().all(|finding| !finding.is_fault()), "{diagnosis:#?}");

    // Nobody is left to take its place.
    sentinels.servers().iter().for_each(Redis::kill);
    let diagnosis = diagnosed(&sentinels.url()).await;
    let value = format!("the primary that the sentinels name, 127.0.0.1:{primary}: it refuses");
    is_the_fault(&diagnosis, Check::Reachable, &value, "SENTINEL CKQUORUM");
}

#[tokio::test]
async fn sentinels_that_disagree_are_named() {
    let groups = [Sentinels::start(), Sentinels::start()];
    let hosts: Vec<_> =
        groups.iter().map(|group| format!("127.0.0.1:{}", group.sentinels()[0].port())).collect();
    for server in groups.iter().flat_map(Sentinels::servers) {
        server.call(&["CONFIG", "SET", "maxmemory", "64mb"]);
    }
    let diagnosis = diagnosed(&groups[0].url_by(&hosts)).await;
    for (host, group) in hosts.iter().zip(&groups) {
        let value = format!("{host} names 127.0.0.1:{}", group.primary().port());
        says(&diagnosis, Check::Primary, &value, "cut off from the others");
    }
}

/// A directory that is removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("forebay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
