//! What the checks share: a connection of their own, what the servers tell, and what stands in the way.

use std::time::Duration;

use futures::future::join_all;

use super::{Check, Verdict};
use crate::{
    health::{Figures, Home, Server, ask::ask, info},
    key::Keys,
    redis::{Probe, Redis, Reply, words},
};

/// What a check says: what it has seen, and what that means.
pub(super) type Seen = (String, Verdict);

/// A handle that has just been opened may take so long to connect.
const CONNECTS: Duration = Duration::from_millis(1_500);

/// What is said of a server that has answered before.
const SILENT: &str = "it no longer answers";

/// What to do about that. No budget changes it: the wait is one of its own, and the connection may have been closed.
const REMEDY: &str = "look whether Redis still runs, into its log, for slow commands (SLOWLOG GET), and for a firewall \
                      that drops what is sent";

const LOOKS: Duration = Duration::from_millis(10);

pub(super) struct Exam<'a> {
    pub(super) home: &'a Home,
    pub(super) redis: &'a Redis,
    /// A connection of its own, or why there is none.
    pub(super) probe: Result<Probe, String>,
    /// Why the nodes cannot be used, though something answers.
    pub(super) trouble: Option<String>,
    pub(super) servers: Vec<Server>,
    /// What else cannot be looked at: why.
    blocked: Option<&'static str>,
    /// Whether some keys have no node.
    has_holes: bool,
    /// Whether the user may not do all that is needed.
    lacks_rights: bool,
    /// Whether the own connection has answered, and does so no more.
    pub(super) is_lost: bool,
    /// Who that is, if it is told.
    pub(super) user: Option<String>,
}

impl<'a> Exam<'a> {
    pub(super) async fn begin(home: &'a Home, redis: &'a Redis) -> Self {
        let mut exam = Self {
            home,
            redis,
            probe: redis.probe().await,
            trouble: None,
            servers: Vec::new(),
            blocked: None,
            has_holes: false,
            lacks_rights: false,
            is_lost: false,
            user: None,
        };
        exam.look_around().await;
        exam
    }

    async fn look_around(&mut self) {
        if self.probe.is_err() {
            return;
        }
        let told = self.ask(&["INFO"]).await;
        let figures = told.as_ref().and_then(Reply::text).map(info::parse);
        let is_replica = figures.as_ref().is_some_and(|figures| figures.replication.is_replica == Some(true));
        // One that is asked for a cluster may well be a replica of it.
        self.trouble = if is_replica && !self.redis.is_cluster() {
            self.redis.trouble()
        } else {
            settled(self.redis).await
        };
        let nodes = self.redis.nodes();
        self.servers = join_all(nodes.iter().map(|node| ask(self.redis, node))).await;
        if self.servers.iter().all(|server| server.figures.is_none()) {
            self.servers = vec![Server { figures, ..Server::default() }];
        }
    }

    pub(super) fn keys(&self) -> &'a Keys {
        &self.home.0.keys
    }

    /// What every server tells.
    pub(super) fn figures(&self) -> impl Iterator<Item = &Figures> {
        self.servers.iter().filter_map(|server| server.figures.as_ref())
    }

    /// What a command answers on the own connection; nothing where there is none, or no answer. Then nothing more is asked
    /// there: each question would have to be waited for as long.
    pub(super) async fn ask(&mut self, command: &[&str]) -> Option<Reply> {
        let answer = self.probe.as_mut().ok()?.ask(&words(command)).await;
        if answer.is_none() {
            self.probe = Err(SILENT.to_owned());
            self.is_lost = true;
        }
        answer
    }

    /// A setting of the server; nothing where that is not told.
    pub(super) async fn setting(&mut self, name: &str) -> Option<String> {
        let answer = self.ask(&["CONFIG", "GET", name]).await?.into_list();
        answer.get(1)?.text().map(str::to_owned)
    }

    /// Why a check cannot be made.
    pub(super) fn obstacle(&self, check: Check) -> Option<&'static str> {
        let needs_figures = [
            Check::Version,
            Check::MaxMemory,
            Check::Eviction,
            Check::Connections,
            Check::Replication,
            Check::Persistence,
        ];
        match check {
            _ if self.blocked.is_some() => self.blocked,
            Check::Scripts | Check::Messages | Check::Expiry if self.has_holes => Some("first the slots"),
            Check::Scripts | Check::Messages if self.lacks_rights => Some("first the rights"),
            Check::Slots if !self.redis.is_cluster() && !self.is_of_cluster() => Some("not a cluster"),
            _ if needs_figures.contains(&check) && self.figures().next().is_none() => {
                Some("the user may not ask for INFO")
            }
            _ => None,
        }
    }

    /// What a check says, unless the server falls silent meanwhile.
    pub(super) async fn heard(&mut self, check: Check) -> Seen {
        let seen = self.examine(check).await;
        match self.is_lost {
            true => (SILENT.to_owned(), Verdict::fault(REMEDY)),
            false => seen,
        }
    }

    async fn examine(&mut self, check: Check) -> Seen {
        match check {
            Check::Reachable => self.reachable(),
            Check::Credentials => self.credentials().await,
            Check::Database => self.database().await,
            Check::Primary => self.primary(),
            Check::Version => self.version(),
            Check::Slots => self.slots(),
            Check::RoundTrip => self.round_trip().await,
            Check::Rights => self.rights().await,
            Check::Scripts => self.scripts().await,
            Check::Messages => self.messages().await,
            Check::Tracking => self.tracking().await,
            Check::MaxMemory => self.max_memory(),
            Check::Eviction => self.eviction(),
            Check::Connections => self.connections(),
            Check::Clock => self.clock(),
            Check::Expiry => self.expiry().await,
            Check::Replication => self.replication().await,
            Check::Persistence => self.persistence().await,
        }
    }

    /// Remembers what stands in the way of later checks.
    pub(super) fn note(&mut self, check: Check, verdict: &Verdict) {
        if !matches!(verdict, Verdict::Fault { .. }) {
            return;
        }
        match check {
            _ if self.is_lost => self.blocked = Some(SILENT),
            Check::Reachable | Check::Credentials => self.blocked = Some("Redis cannot be asked"),
            Check::Database if self.probe.is_err() => self.blocked = Some("Redis cannot be asked"),
            Check::Primary => self.blocked = Some("it takes no writes"),
            Check::Slots => self.has_holes = true,
            Check::Rights => self.lacks_rights = true,
            _ => {}
        }
    }
}

/// Why the nodes cannot be used once there was time to connect.
async fn settled(redis: &Redis) -> Option<String> {
    let (clock, until) = (redis.clock(), redis.clock().now().after(CONNECTS));
    loop {
        let trouble = redis.trouble();
        if trouble.is_none() || clock.now() >= until {
            return trouble;
        }
        clock.sleep(LOOKS).await;
    }
}
