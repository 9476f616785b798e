//! Several servers over one Redis: one limit for all of their clients.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_rig::{Redis, unless_starved};
use serde_json::json;
use tokio::{
    runtime::Runtime,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::support::{Answered, Server};

const SERVERS: usize = 4;
const TASKS: usize = 64;

/// Closed, so that a machine that is busy cannot have a server decide by itself.
const SETTINGS: &str = r#"
[redis]
budget = "10s"
[limits.strict]
on_outage = "closed"
tiers = { free = ["1000/minute"] }
[limits.log]
mode = "log"
on_outage = "closed"
tiers = { free = ["1000/minute"] }
[limits.narrow]
on_outage = "closed"
tiers = { free = ["1/hour"] }
"#;

/// Whoever hears nothing of it believes its refusal for a second.
const SOON: Duration = Duration::from_millis(500);

const PATIENCE: Duration = Duration::from_secs(10);

async fn servers(redis: &Redis) -> Vec<Arc<Server>> {
    let url = redis.url();
    let start = || Arc::new(Server::given(&[], &[("FOREBAY_REDIS_URL", &url)], SETTINGS));
    let servers: Vec<_> = std::iter::repeat_with(start).take(SERVERS).collect();
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

async fn check(server: &Server, policy: &str) -> u16 {
    Answered::to(server.post(&format!("/v1/limits/{policy}"), r#"{"subject":"user:42"}"#)).await.status
}

#[tokio::test]
async fn four_servers_admit_exactly_what_one_would() {
    let redis = Redis::start();
    let servers = servers(&redis).await;
    for policy in ["strict", "log"] {
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let server = servers[task % SERVERS].clone();
            tasks.spawn(async move {
                let mut statuses = Vec::new();
                while statuses.len() < 2_000 / TASKS {
                    statuses.push(check(&server, policy).await);
                }
                statuses
            });
        }
        let statuses = tasks.join_all().await.concat();
        let of = |status| statuses.iter().filter(|seen| **seen == status).count();
        assert_eq!((of(200), of(200) + of(429)), (1_000, statuses.len()), "{policy}");
    }
    assert_eq!(redis.keys_without_expiry(), Vec::<String>::new());
}

#[test]
fn a_reset_on_another_server_is_heard_of() {
    unless_starved(|| Runtime::new().unwrap().block_on(reset_elsewhere()));
}

/// Panics at what is wrong, and answers what came late.
async fn reset_elsewhere() -> Result<(), String> {
    let redis = Redis::start();
    let servers = servers(&redis).await;
    assert_eq!(check(&servers[0], "narrow").await, 200);
    for server in &servers {
        assert_eq!(check(server, "narrow").await, 429);
    }
    assert_eq!(Answered::to(servers[3].delete("/v1/limits/narrow/user:42")).await.status, 204);
    let began = now();

    let admitted = async { while check(&servers[0], "narrow").await != 200 {} };

    timeout(PATIENCE, admitted).await.expect("it is seen at some time");
    let took = began.elapsed();
    println!("seen after {took:?}");
    if took < SOON { Ok(()) } else { Err(format!("the reset is seen after {took:?}")) }
}

#[tokio::test]
async fn a_flood_of_refused_calls_hardly_reaches_redis() {
    let redis = Redis::start();
    let servers = servers(&redis).await;
    assert_eq!(check(&servers[0], "narrow").await, 200);
    let items = json!(vec![json!({ "policy": "narrow", "subject": "user:42" }); 1_000]).to_string();
    let before = redis.script_calls();
    let began = now();
    for _ in 0..100 {
        let answer = Answered::to(servers[0].post("/v1/batch/limits", items.clone())).await;
        let refused = answer.json().as_array().unwrap().iter().filter(|item| item["status"] == 429).count();
        assert_eq!(refused, 1_000);
    }
    let (sent, took) = (redis.script_calls() - before, began.elapsed());
    println!("{sent} scripts in {took:?}");
    // A refusal is believed for a second, and one call asks again after four fifths of it.
    assert!(u128::from(sent) < 100.min(3 + took.as_millis() / 800), "{sent} in {took:?}");
}

#[tokio::test]
async fn without_redis_a_policy_does_as_it_is_told() {
    let settings = "[redis]\nurl = \"redis://127.0.0.1:1\"\n[limits.closed]\non_outage = \"closed\"\n\
                    [limits.open]\non_outage = \"open\"\n[limits.local]\nexpected_processes = 5\n";
    let server = Server::with(settings);

    let closed = Answered::to(server.post("/v1/limits/closed", r#"{"subject":"a"}"#)).await;
    assert_eq!(closed.problem(), (503, "redis-unavailable".into()));
    assert_eq!(closed.header("retry-after"), Some("1"));
    let json = closed.json();
    assert_eq!(
        (&json["allowed"], &json["policy"], &json["retry_after_ms"]),
        (&json!(false), &json!("closed"), &json!(1_000))
    );
    let look = Answered::to(server.get("/v1/limits/closed/a")).await;
    assert_eq!(look.problem(), (503, "redis-unavailable".into()));

    let statuses = async |policy| {
        [check(&server, policy).await, check(&server, policy).await, check(&server, policy).await]
    };
    assert_eq!(statuses("open").await, [200; 3]);
    assert_eq!(statuses("local").await, [200, 200, 429]);

    for request in [server.delete("/v1/limits/local/a"), server.get("/rate-limit/stats")] {
        assert_eq!(Answered::to(request).await.problem(), (503, "redis-unavailable".into()));
    }
}

#[expect(clippy::disallowed_methods, reason = "other processes live by the machine's clock")]
fn now() -> Instant {
    Instant::now()
}
