//! SIGHUP: limits are changed while the server runs, by settings that can be used.

use crate::support::{Answered, Server};

const LOW: &str = "[limits.api.tiers]\nfree = [\"2/hour\"]\n[limits.other]\nmode = \"log\"\n";
const HIGH: &str = "[limits.api.tiers]\nfree = [\"3/hour\"]\n[limits.other]\nmode = \"log\"\n";

async fn check(server: &Server) -> u16 {
    Answered::to(server.post("/v1/limits/api", r#"{"subject":"a"}"#)).await.status
}

#[tokio::test]
async fn a_limit_that_is_raised_admits_the_next_call() {
    let server = Server::with(LOW);
    assert_eq!([check(&server).await, check(&server).await, check(&server).await], [200, 200, 429]);

    let said = server.reload(HIGH);

    assert_eq!([check(&server).await, check(&server).await], [200, 429]);
    let changes: Vec<_> = said.lines().filter(|line| line.contains("limits.")).collect();
    assert!(changes.len() == 1 && changes[0].contains("changed=\"limits.api.tiers\""), "{said}");
}

#[tokio::test]
async fn a_refusal_over_redis_is_forgotten_when_the_limit_is_raised() {
    let redis = forebay_rig::Redis::start();
    let budget = "[redis]\nbudget = \"10s\"\n";
    let url = redis.url();
    let server = Server::given(&[], &[("FOREBAY_REDIS_URL", &url)], &format!("{budget}{LOW}"));
    assert_eq!([check(&server).await, check(&server).await, check(&server).await], [200, 200, 429]);

    server.reload(&format!("{budget}{HIGH}"));

    assert_eq!([check(&server).await, check(&server).await], [200, 429]);
}

#[tokio::test]
async fn settings_that_cannot_be_used_change_nothing_and_are_named() {
    let server = Server::with(LOW);
    let raised = |rest: &str| format!("{HIGH}{rest}");
    let unusable = [
        ("app = ".to_owned(), "line 1"),
        (
            raised("[limits.other.tiers]\nfree = [\"1/second\", \"5/fortnight\"]"),
            "`limits.other.tiers.free[1]`",
        ),
        (raised("[limits.other.tiers]\nfree = [\"10001/hour\"]"), "`limits.other`"),
        (raised("[limits.other.tiers]\npro = [\"1/hour\"]"), "`limits.other.lowest`"),
        (raised("[cache]\nlocal_byte = 1"), "`cache.local_byte`"),
        // The mode in force is still the old one.
        (HIGH.replace("log", "strict") + "[limits.other.tiers]\nfree = [\"10001/hour\"]", "`limits.other`"),
    ];
    for (settings, named) in unusable {
        let said = server.reload(&settings);
        assert!(
            said.contains("ERROR") && said.contains("nothing is changed") && said.contains(named),
            "{said}"
        );
    }
    assert_eq!([check(&server).await, check(&server).await, check(&server).await], [200, 200, 429]);
}

#[tokio::test]
async fn what_needs_a_restart_is_named() {
    let server = Server::with(LOW);
    let new = "app = \"shop\"\n[limits.api]\nmode = \"gcra\"\non_outage = \"closed\"\nexpected_processes = 4\n\
               [limits.new]\n[server]\nshutdown_budget = \"9s\"";

    let said = server.reload(&format!("{new}\n[limits.api.tiers]\nfree = [\"3/hour\"]"));

    assert!(said.contains("changed=\"limits.api.tiers\""), "{said}");
    let waiting = "app, server, limits.api.mode, limits.api.on_outage, limits.api.expected_processes, limits.new, \
                   limits.other";
    assert!(said.contains(&format!("settings=\"{waiting}\"")), "{said}");
    let new = Answered::to(server.post("/v1/limits/new", r#"{"subject":"a"}"#)).await;
    assert_eq!(new.problem(), (404, "unknown-policy".into()));
    assert!(server.reload(LOW).contains("changed=\"limits.api.tiers\""));
    assert!(server.reload(LOW).contains("changed=\"nothing\""));
}

#[tokio::test]
async fn a_server_without_a_file_goes_on() {
    let server = Server::start();

    assert!(server.reload("").contains("changed=\"nothing\""));

    assert_eq!(check(&server).await, 200);
}
