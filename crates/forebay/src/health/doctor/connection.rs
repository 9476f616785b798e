//! Whether Redis can be asked as it has to be.

use std::time::Duration;

use super::{
    Verdict,
    ailment::Ailment,
    exam::{Exam, Seen, Trouble},
};
use crate::redis::{Reply, Road};

const PINGS: usize = 20;

/// What stands in the way of a connection, by what the server has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    Credentials,
    Database,
    Other,
}

impl Obstacle {
    fn of(reason: &str) -> Self {
        let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
        match () {
            () if says(&["WRONGPASS", "NOAUTH", "password"]) => Self::Credentials,
            () if says(&["database"]) => Self::Database,
            () => Self::Other,
        }
    }
}

impl Exam<'_> {
    pub(super) fn reachable(&self) -> Seen {
        let well = ("it answers".to_owned(), Verdict::Well);
        match &self.probe {
            Err(reason) => self.unreached(reason).unwrap_or(well),
            Ok(_) if self.is_replica() => well,
            Ok(_) => {
                let troubles = self.troubles_of(Obstacle::Other);
                let Some(Trouble { why, .. }) = troubles.first() else { return well };
                (listed(&troubles), Verdict::fault(self.remedy(why)))
            }
        }
    }

    /// What there is to say where nothing can be asked, unless a check of its own does.
    fn unreached(&self, reason: &str) -> Option<Seen> {
        if let Some((value, remedy)) = self.no_sentinel() {
            return Some((value, Verdict::fault(remedy)));
        }
        if Obstacle::of(reason) != Obstacle::Other {
            return None;
        }
        let value = match self.is_under_sentinels() {
            true => format!("{}: {reason}", self.named_by_sentinels()),
            false => reason.to_owned(),
        };
        Some((value, Verdict::fault(self.remedy(reason))))
    }

    fn troubles_of(&self, obstacle: Obstacle) -> Vec<&Trouble> {
        self.troubles.iter().filter(|trouble| Obstacle::of(&trouble.why) == obstacle).collect()
    }

    fn remedy(&self, reason: &str) -> &'static str {
        if let Some(ailment) = Ailment::told_by(reason) {
            return ailment.remedy;
        }
        let is_gone = ["refuses connections", "does not answer"].iter().any(|gone| reason.contains(gone));
        match is_gone {
            true if self.is_under_sentinels() => {
                "start it, or look why no replica takes its place: SENTINEL CKQUORUM and the name says whether the \
                 sentinels can choose one"
            }
            true if self.redis.is_cluster() && self.probe.is_ok() => {
                "start that node, or look what keeps it; without it redis-cli --cluster check with the address of another \
                 node says what is missing"
            }
            _ => remedy(reason),
        }
    }

    pub(super) async fn credentials(&mut self) -> Seen {
        if let Err(reason) = &self.probe
            && matches!(Obstacle::of(reason), Obstacle::Credentials)
        {
            let remedy = "put the right user and password into the URL, as redis://user:password@host; special \
                          characters as %40 for @";
            return (reason.clone(), Verdict::fault(remedy));
        }
        let refused = self.troubles_of(Obstacle::Credentials);
        if !refused.is_empty() {
            let remedy = "make the same user there (ACL SETUSER, or ACL LOAD of the same file): each node of a cluster has \
                          users and passwords of its own";
            return (listed(&refused), Verdict::fault(remedy));
        }
        let told = self.ask(&["ACL", "WHOAMI"]).await;
        self.user = told.as_ref().and_then(Reply::text).map(str::to_owned);
        let value = match &self.user {
            Some(user) => format!("accepted, as user `{user}`"),
            None => "accepted".to_owned(),
        };
        (value, Verdict::Well)
    }

    pub(super) async fn round_trip(&mut self) -> Seen {
        let (clock, budget) = (self.redis.clock().clone(), self.redis.span(Road::Usual));
        let mut spans = Vec::new();
        for _ in 0..PINGS {
            let began = clock.reading();
            if self.ask(&["PING"]).await.is_none() {
                break;
            }
            spans.push(clock.reading().saturating_sub(began));
        }
        spans.sort();
        let Some(slowest) = spans.last().filter(|_| spans.len() == PINGS) else {
            return ("no answer".to_owned(), Verdict::fault(SLOW));
        };
        let usual = spans[PINGS / 2];
        let value = format!("{}, of {PINGS} at most {}; budget {}", ms(usual), ms(*slowest), ms(budget));
        let verdict = match usual {
            _ if usual > budget => Verdict::fault(SLOW),
            _ if usual > budget / 5 => Verdict::warning(SLOW),
            _ => Verdict::Well,
        };
        (value, verdict)
    }
}

/// Each with its node, where there are several.
fn listed(troubles: &[&Trouble]) -> String {
    let each = troubles.iter().map(|Trouble { node, why }| match node {
        Some(node) => format!("{node}: {why}"),
        None => why.clone(),
    });
    each.collect::<Vec<_>>().join("; ")
}

const SLOW: &str = "run Redis nearer to the servers of the application, look for slow commands (SLOWLOG GET), or \
                    raise `redis.budget`";

/// What to do about a server that does not answer as it should.
fn remedy(trouble: &str) -> &'static str {
    let says = |word: &str| trouble.contains(word);
    match () {
        () if says("refuses connections") => {
            "start Redis, or correct host and port in the URL; in a container, 127.0.0.1 is the container itself"
        }
        () if says("certificate") => {
            "have the authority of its certificate trusted, or use the name that it was made for"
        }
        () if says("name is not known") => "correct the host in the URL, or its entry in DNS",
        () if says("loading") => "wait until it has read its data",
        () if says("slowly") => "look what keeps it busy (SLOWLOG GET, CPU of the machine)",
        () if says("NOPERM") => "allow the user to connect: ACL SETUSER … +@connection",
        () => "look whether Redis runs there, and whether a firewall is between; TLS needs rediss://",
    }
}

/// In milliseconds, with as many digits as tell something.
pub(super) fn ms(span: Duration) -> String {
    let ms = span.as_secs_f64() * 1_000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}
