//! Several servers over one Redis: one load per miss among all of their clients.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_rig::{Redis, unless_starved};
use tokio::{
    runtime::Runtime,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::support::{Answered, Server};

const LEASE: &str = "/v1/cache/stampede/missing/lease";
const SERVERS: usize = 4;
/// A machine that is busy with something else may keep Redis from answering for longer than usual.
const PATIENT: &str = "[redis]\nbudget = \"1s\"";

/// How long anything may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(10);

const SOON: Duration = Duration::from_millis(250);

/// For so long the round trips of those who wait are counted, in seconds.
const COUNTED: u64 = 2;

#[test]
fn of_a_thousand_clients_of_four_servers_one_loads_and_all_get_its_value() {
    unless_starved(|| Runtime::new().unwrap().block_on(stampede()));
}

/// Panics at what is wrong, and answers what came late.
async fn stampede() -> Result<(), String> {
    let redis = Redis::start();
    let servers = servers(&redis).await;
    let mut clients = JoinSet::new();
    for client in 0..1_000 {
        let server = servers[client % SERVERS].clone();
        clients.spawn(async move {
            let answer = Answered::to(server.post(LEASE, r#"{"wait_ms":8000}"#)).await;
            (answer, now())
        });
    }

    let (first, _) = clients.join_next().await.unwrap().unwrap();
    let token = first.lease();
    sleep(Duration::from_secs(1)).await;
    let before = round_trips(&redis);
    let began = now();
    sleep(Duration::from_secs(COUNTED)).await;
    let trips = round_trips(&redis) - before;
    // A machine that is busy lets one sleep for longer.
    let counted = began.elapsed().as_secs() + 1;
    let filling = now();
    let fill = servers[0].put(&format!("{LEASE}?ttl_ms=60000"), "loaded").header("forebay-lease", token);
    assert_eq!(Answered::to(fill).await.status, 204);

    let mut took = Vec::new();
    for (answer, when) in clients.join_all().await {
        assert_eq!((answer.status, answer.body.as_str()), (200, "loaded"), "{answer:?}");
        took.push(when.duration_since(filling));
    }
    took.sort_unstable();
    let p99 = took[took.len() * 99 / 100];
    println!(
        "{trips} round trips of {SERVERS} servers in {COUNTED} s; 99 of 100 have it {p99:?} after the fill began"
    );
    assert_eq!(took.len(), 999);
    assert!(trips <= 4 * counted * SERVERS as u64, "{trips} in {counted} s");
    assert_eq!(redis.keys_without_expiry(), Vec::<String>::new());
    if p99 <= SOON { Ok(()) } else { Err(format!("the fill is known after {p99:?} instead of {SOON:?}")) }
}

/// Servers that use the Redis and hear each other.
async fn servers(redis: &Redis) -> Vec<Arc<Server>> {
    let url = redis.url();
    let start = || Arc::new(Server::given(&[], &[("FOREBAY_REDIS_URL", &url)], PATIENT));
    let servers: Vec<_> = std::iter::repeat_with(start).take(SERVERS).collect();
    println!("processes {:?}", servers.iter().map(|server| server.pid()).collect::<Vec<_>>());
    for server in &servers {
        let ready = async {
            while Answered::to(server.get("/readyz")).await.json()["status"] != "ready" {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, ready).await.expect("the server uses Redis and hears the others");
    }
    servers
}

/// Reads and scripts; the heartbeats of the servers are no part of it.
fn round_trips(redis: &Redis) -> u64 {
    redis.script_calls() + redis.calls("get")
}

#[expect(clippy::disallowed_methods, reason = "other processes live by the machine's clock")]
fn now() -> Instant {
    Instant::now()
}
