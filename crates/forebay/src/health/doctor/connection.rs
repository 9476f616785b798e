//! Whether Redis can be asked as it has to be.

use std::time::Duration;

use super::{
    Verdict,
    exam::{Exam, Seen},
};
use crate::redis::{Reply, Road};

const PINGS: usize = 20;

/// What stands in the way of a connection, by what the server has answered.
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
        let trouble = match &self.probe {
            Err(reason) if matches!(Obstacle::of(reason), Obstacle::Other) => reason,
            // These are named by checks of their own.
            Err(_) => return ("it answers".to_owned(), Verdict::Well),
            Ok(_) if self.is_replica() || !self.redis.uncovered().is_empty() => {
                return ("it answers".to_owned(), Verdict::Well);
            }
            Ok(_) => match &self.trouble {
                Some(trouble) => trouble,
                None => return ("it answers".to_owned(), Verdict::Well),
            },
        };
        (trouble.clone(), Verdict::fault(remedy(trouble)))
    }

    pub(super) async fn credentials(&mut self) -> Seen {
        if let Err(reason) = &self.probe
            && matches!(Obstacle::of(reason), Obstacle::Credentials)
        {
            let remedy = "put the right user and password into the URL, as redis://user:password@host; special \
                          characters as %40 for @";
            return (reason.clone(), Verdict::fault(remedy));
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
        () if says("sentinel") => {
            "correct the addresses of the sentinels and the name of the primary in the URL"
        }
        () => "look whether Redis runs there, and whether a firewall is between; TLS needs rediss://",
    }
}

/// In milliseconds, with as many digits as tell something.
pub(super) fn ms(span: Duration) -> String {
    let ms = span.as_secs_f64() * 1_000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}
