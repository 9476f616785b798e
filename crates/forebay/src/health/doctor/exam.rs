//! What the checks share: a connection of their own, what the servers tell, and what stands in the way.

use std::time::Duration;

use futures::future::join_all;

use super::{
    Check, Verdict,
    ailment::{Ailment, MISCONF, NOREPLICAS, OOM},
};
use crate::{
    health::{
        Figures, Home,
        ask::{Untold, figures},
        info,
    },
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

/// Why a node cannot be used.
#[derive(Debug)]
pub(super) struct Trouble {
    /// Which one, where there are several.
    pub(super) node: Option<String>,
    pub(super) why: String,
}

pub(super) struct Exam<'a> {
    pub(super) home: &'a Home,
    pub(super) redis: &'a Redis,
    /// A connection of its own, or why there is none.
    pub(super) probe: Result<Probe, String>,
    /// Why nodes cannot be used, though something answers.
    pub(super) troubles: Vec<Trouble>,
    /// What each server tells, those that tell nothing apart.
    servers: Vec<Figures>,
    /// Which ones refuse to tell, and the code of their answer.
    pub(super) untold: Vec<(Option<String>, String)>,
    /// What each of the sentinels says, by its address.
    pub(super) sentinels: Vec<(String, Result<String, String>)>,
    /// The code with which it refuses all writes.
    pub(super) refuses_writes: Option<String>,
    /// What else cannot be looked at: why.
    blocked: Option<&'static str>,
    /// Whether some keys have no node.
    has_holes: bool,
    /// Whether the user may not do all that is needed.
    pub(super) lacks_rights: bool,
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
            troubles: Vec::new(),
            servers: Vec::new(),
            untold: Vec::new(),
            sentinels: redis.sentinels().await,
            refuses_writes: None,
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
        let pinged = self.ask(&["PING"]).await;
        let told = self.ask(&["INFO"]).await;
        let own = told.as_ref().and_then(Reply::text).map(info::parse);
        let is_replica = own.as_ref().is_some_and(|figures| figures.replication.is_replica == Some(true));
        // One that is asked for a cluster may well be a replica of it.
        let trouble = if is_replica && !self.redis.is_cluster() {
            self.redis.trouble()
        } else {
            settled(self.redis).await
        };
        if self.redis.is_cluster() && !self.redis.nodes().is_empty() {
            return self.look_at_nodes().await;
        }
        let answers = [&pinged, &told].into_iter().flatten();
        let mut codes = answers.filter_map(Reply::code).filter(|code| !Ailment::has_a_check(code));
        let why = codes.find_map(Ailment::of).map(|ailment| ailment.seen.to_owned());
        // That a cluster has no nodes is told by the slots.
        let why = why.or(trouble.filter(|_| !self.redis.is_cluster()));
        self.troubles.extend(why.map(|why| Trouble { node: None, why }));
        if let Some(code) = told.as_ref().and_then(Reply::code) {
            self.untold.push((None, code.to_owned()));
        }
        let nodes = self.redis.nodes();
        let told = join_all(nodes.iter().map(|node| figures(self.redis, node))).await;
        self.servers = told.into_iter().flatten().collect();
        if self.servers.is_empty() {
            self.servers.extend(own);
        }
    }

    /// Each node of a cluster may have a trouble of its own.
    async fn look_at_nodes(&mut self) {
        let nodes = self.redis.nodes();
        let told = join_all(nodes.iter().map(|node| figures(self.redis, node))).await;
        for (node, told) in nodes.iter().zip(told) {
            let name = || Some(node.name().to_owned());
            let why = match told {
                Ok(figures) => {
                    self.servers.push(figures);
                    node.trouble()
                }
                Err(Untold::Silent(why)) => Some(why),
                Err(Untold::Refused(code)) => match Ailment::of(&code) {
                    Some(ailment) => Some(ailment.seen.to_owned()),
                    None => {
                        self.untold.push((name(), code));
                        node.trouble()
                    }
                },
            };
            // That its cluster is down is told by the slots.
            let why = why.filter(|why| !why.contains("cluster is down"));
            self.troubles.extend(why.map(|why| Trouble { node: name(), why }));
        }
    }

    pub(super) fn keys(&self) -> &'a Keys {
        &self.home.0.keys
    }

    /// What every server tells.
    pub(super) fn figures(&self) -> impl Iterator<Item = &Figures> {
        self.servers.iter()
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
            Check::MaxMemory,
            Check::Eviction,
            Check::Connections,
            Check::Clock,
            Check::Replication,
            Check::Persistence,
        ];
        match check {
            _ if self.blocked.is_some() => self.blocked,
            Check::Scripts | Check::Messages | Check::Expiry if self.has_holes => Some("first the slots"),
            Check::Scripts | Check::Messages if self.lacks_rights => Some("first the rights"),
            Check::Scripts if self.refuses_writes.is_some() => Some("it refuses writes"),
            Check::MaxMemory | Check::Replication | Check::Persistence if self.is_refused_for(check) => None,
            Check::Slots if !self.redis.is_cluster() && !self.is_of_cluster() => Some("not a cluster"),
            _ if needs_figures.contains(&check) && self.servers.is_empty() => Some("there is no INFO"),
            _ => None,
        }
    }

    /// Whether this check tells why writes are refused.
    pub(super) fn is_refused_for(&self, check: Check) -> bool {
        let code = match check {
            Check::MaxMemory => OOM,
            Check::Replication => NOREPLICAS,
            Check::Persistence => MISCONF,
            _ => return false,
        };
        self.refuses_writes.as_deref() == Some(code)
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
            Check::Slots => self.slots().await,
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
