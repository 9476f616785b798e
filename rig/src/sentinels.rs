//! A primary with two replicas, and three sentinels who decide which is which.

use std::{thread, time::Duration};

use crate::{patience::within, redis::Redis};

/// On a busy machine sentinels do nothing for half a minute once they find that time has jumped.
const PATIENCE: Duration = Duration::from_secs(90);

const PAUSE: Duration = Duration::from_millis(100);

/// The name of the primary.
const NAME: &str = "rig";

const REPLICAS: usize = 2;
const SENTINELS: usize = 3;

/// How long a primary is silent before it is taken for dead, and how long a failover may take before the next one, in
/// milliseconds.
const DOWN_AFTER: &str = "500";
const TIMEOUT: &str = "2000";

/// Replicas are there as soon as they ask.
const SETTINGS: &[&str] = &["--repl-diskless-sync-delay", "0"];

/// Servers of one's own, which end as [`Redis`] does.
#[derive(Debug)]
pub struct Sentinels {
    sentinels: Vec<Redis>,
    servers: Vec<Redis>,
}

impl Sentinels {
    /// Starts three servers and three sentinels, and waits until all know each other.
    ///
    /// # Panics
    ///
    /// If they do not within a minute and a half.
    pub fn start() -> Self {
        let servers: Vec<_> = (0..=REPLICAS).map(|_| Redis::with(SETTINGS)).collect();
        let port = servers[0].port().to_string();
        for replica in &servers[1..] {
            replica.reply(&["REPLICAOF", "127.0.0.1", &port]).granted();
        }
        within(PATIENCE, || servers[1..].iter().all(follows).then_some(())).expect("replicas follow");
        let text = format!(
            "sentinel monitor {NAME} 127.0.0.1 {port} 2\n\
             sentinel down-after-milliseconds {NAME} {DOWN_AFTER}\n\
             sentinel failover-timeout {NAME} {TIMEOUT}\n\
             sentinel parallel-syncs {NAME} {REPLICAS}\n"
        );
        let sentinels = (0..SENTINELS).map(|_| Redis::sentinel(&text)).collect();
        let all = Self { sentinels, servers };
        all.settle();
        all
    }

    /// The address as clients take it.
    pub fn url(&self) -> String {
        self.url_of(NAME)
    }

    /// An address under which a primary of this `name` is asked for.
    pub fn url_of(&self, name: &str) -> String {
        let hosts = self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port()));
        url(&hosts.collect::<Vec<_>>(), name)
    }

    /// The address for clients that reach the sentinels by other hosts.
    pub fn url_by(&self, hosts: &[String]) -> String {
        url(hosts, NAME)
    }

    /// The sentinels.
    pub fn sentinels(&self) -> &[Redis] {
        &self.sentinels
    }

    /// The primary and the replicas, in an order that stays.
    pub fn servers(&self) -> &[Redis] {
        &self.servers
    }

    /// The server that all sentinels name.
    ///
    /// # Panics
    ///
    /// If they do not agree within a minute and a half.
    pub fn primary(&self) -> &Redis {
        let named = within(PATIENCE, || self.named().filter(|server| leads(server)));
        named.expect("sentinels agree on a primary")
    }

    /// Has a replica take over while the primary runs, and waits until all know.
    ///
    /// # Panics
    ///
    /// If that takes more than a minute and a half.
    pub fn fail_over(&self) {
        self.switch();
        self.settle();
    }

    /// Has a replica take over while the primary runs, and waits until all sentinels say so; the servers may not know.
    ///
    /// # Panics
    ///
    /// If that takes more than a minute and a half.
    pub fn switch(&self) -> &Redis {
        let before = self.primary();
        // Refused while another failover is under way, or no replica is known to be good.
        let asks = || (self.sentinels[0].call(&["SENTINEL", "FAILOVER", NAME]) == "OK").then_some(());
        within(PATIENCE, asks).expect("a sentinel can be told to fail over");
        self.replaced(before)
    }

    /// Kills the primary and waits until a replica has taken over. It stays dead.
    ///
    /// # Panics
    ///
    /// If that takes more than a minute and a half.
    pub fn lose_primary(&self) -> &Redis {
        let before = self.primary();
        before.kill();
        self.replaced(before)
    }

    /// Kills the primary, waits until a replica has taken over, and brings the dead one back as a replica of that.
    ///
    /// # Panics
    ///
    /// If that takes more than three minutes.
    pub fn kill_primary(&self) {
        let before = self.primary();
        self.lose_primary();
        before.restart();
        self.settle();
    }

    /// Has the replicas hear nothing more of the primary, for as long as it lives.
    pub fn cut_replicas_off(&self) {
        let primary = self.primary();
        primary.reply(&["ACL", "SETUSER", "default", "-psync", "-sync"]).granted();
        primary.call(&["CLIENT", "KILL", "TYPE", "replica"]);
    }

    /// The keys that would stay for ever; a replica has those of its primary.
    pub fn keys_without_expiry(&self) -> Vec<String> {
        self.primary().keys_without_expiry()
    }

    /// Waits until the sentinels name another server than `before`, which leads.
    ///
    /// # Panics
    ///
    /// If they do not within a minute and a half.
    pub fn replaced(&self, before: &Redis) -> &Redis {
        let other = |server: &&Redis| server.port() != before.port() && leads(server);
        within(PATIENCE, || self.named().filter(other)).expect("a replica takes over")
    }

    /// The server that all sentinels name at this moment, if they agree.
    fn named(&self) -> Option<&Redis> {
        let ports: Vec<_> = self.sentinels.iter().map(port).collect();
        let agreed = ports.iter().all(|port| *port == ports[0]);
        self.servers.iter().find(|server| agreed && ports[0] == Some(server.port()))
    }

    /// Waits until every sentinel knows all others, and every server but the primary follows.
    ///
    /// # Panics
    ///
    /// If that takes more than a minute and a half.
    pub fn settle(&self) {
        let settled = within(PATIENCE, || {
            thread::sleep(PAUSE);
            let primary = self.named()?;
            let rest = self.servers.iter().filter(|server| server.port() != primary.port());
            let in_step = leads(primary) && rest.into_iter().all(follows);
            (in_step && self.sentinels.iter().all(knows_all)).then_some(())
        });
        let of = |sentinel: &Redis| sentinel.call(&["SENTINEL", "MASTER", NAME]);
        assert!(settled.is_some(), "no agreement:\n{:?}", self.sentinels.iter().map(of).collect::<Vec<_>>());
    }
}

fn url(hosts: &[String], name: &str) -> String {
    format!("redis+sentinel://{}/{name}", hosts.join(","))
}

/// The port that a sentinel names.
fn port(sentinel: &Redis) -> Option<u16> {
    let named = sentinel.call(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME]);
    named.lines().nth(1)?.parse().ok()
}

/// Whether a sentinel knows who else is there, and that all are well.
fn knows_all(sentinel: &Redis) -> bool {
    let fields = sentinel.call(&["SENTINEL", "MASTER", NAME]);
    let field = |name: &str| fields.lines().skip_while(|line| *line != name).nth(1).map(str::to_owned);
    let counts = |name: &str, count: usize| field(name) == Some(count.to_string());
    field("flags").is_some_and(|flags| flags == "master")
        && counts("num-slaves", REPLICAS)
        && counts("num-other-sentinels", SENTINELS - 1)
}

fn leads(server: &Redis) -> bool {
    server.answers(PAUSE) && server.field("replication", "role").is_some_and(|role| role == "master")
}

fn follows(server: &Redis) -> bool {
    server.field("replication", "master_link_status").is_some_and(|link| link == "up")
}
