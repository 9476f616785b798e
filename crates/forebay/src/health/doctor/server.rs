//! Whether the server is as it has to be.

use std::time::Duration;

use super::{
    Check, Verdict,
    ailment::Ailment,
    connection::ms,
    exam::{Exam, Seen},
};
use crate::{
    health::{
        Clients, Figures, Memory,
        advice::{APART, FULL},
        ask::no_info,
    },
    redis::UNKNOWN,
};

/// The oldest that is tested.
const OLDEST: (u32, u32) = (6, 2);

/// Beyond this share of its limit, in percent, a server is as good as full.
const OVERFULL: f64 = 95.0;

/// Further apart than this, clocks are wrong and not merely imprecise.
const FAR: Duration = Duration::from_secs(10);

/// What nobody needs to know of.
const NEAR: Duration = Duration::from_millis(100);

impl Exam<'_> {
    pub(super) fn version(&self) -> Seen {
        if let Some(seen) = self.without_info() {
            return seen;
        }
        let mut versions: Vec<_> = self.figures().map(Figures::release).collect();
        versions.dedup();
        let mode = self.figures().find_map(|figures| figures.mode.clone()).unwrap_or_default();
        let value = format!("{}, {mode}", versions.join(" and "));
        let is_old = self.figures().filter(|figures| figures.software == "redis").any(|figures| {
            let mut parts = figures.version.split('.').map(|part| part.parse().unwrap_or(0));
            (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < OLDEST
        });
        match is_old {
            true => (value, Verdict::fault("update it to Redis 6.2 or later, or to Valkey")),
            false => (value, Verdict::Well),
        }
    }

    /// What there is to say where a server refuses to tell of itself.
    fn without_info(&self) -> Option<Seen> {
        let (_, code) = self.untold.first()?;
        let nodes: Vec<_> = self.untold.iter().filter_map(|(node, _)| node.as_deref()).collect();
        let place = if nodes.is_empty() { String::new() } else { format!("{}: ", nodes.join(", ")) };
        let remedy = match code.as_str() {
            UNKNOWN => "undo the rename-command of INFO".to_owned(),
            _ => format!("ACL SETUSER {} +info", self.user.as_deref().unwrap_or("…")),
        };
        let blind = "without it no filter is believed, and nobody can say whether memory, eviction, connections, clock, \
                     replication and persistence are as they have to be";
        Some((format!("{place}{}", no_info(code)), Verdict::fault(format!("{remedy}: {blind}"))))
    }

    /// That all writes are refused, for what `check` looks at.
    fn refused(&self, check: Check) -> Option<Seen> {
        let code = self.refuses_writes.as_deref().filter(|_| self.is_refused_for(check))?;
        let ailment = Ailment::of(code)?;
        Some((ailment.seen.to_owned(), Verdict::fault(ailment.remedy)))
    }

    pub(super) fn max_memory(&self) -> Seen {
        let (value, verdict) = self.limit_of_memory();
        match self.refused(Check::MaxMemory) {
            Some(refused) if !matches!(verdict, Verdict::Fault { .. }) => refused,
            _ => (value, verdict),
        }
    }

    fn limit_of_memory(&self) -> Seen {
        let memories = || self.figures().map(|figures| &figures.memory);
        if memories().any(|memory| memory.limit == Some(0)) {
            let remedy = "CONFIG SET maxmemory 512mb, or what the machine can spare, and the same in redis.conf: \
                          without a limit the machine ends Redis when memory runs out";
            return ("no limit".to_owned(), Verdict::fault(remedy));
        }
        let fullest = memories().filter_map(Memory::percent_used).max_by(f64::total_cmp);
        let Some(percent) = fullest else { return ("not told".to_owned(), Verdict::Well) };
        let limit = memories().filter_map(|memory| memory.limit).min().unwrap_or(0);
        let value = format!("{percent:.1} % of {} MiB in use", limit >> 20);
        let remedy = "raise maxmemory, or shorten the lives of values: a full Redis refuses writes";
        match percent {
            _ if percent > OVERFULL => (value, Verdict::fault(remedy)),
            _ if percent > FULL => (value, Verdict::warning(remedy)),
            _ => (value, Verdict::Well),
        }
    }

    pub(super) fn eviction(&self) -> Seen {
        let policies = self.figures().filter_map(|figures| figures.memory.policy.clone());
        let mut policies: Vec<_> = policies.collect();
        policies.sort();
        policies.dedup();
        let value = policies.join(" and ");
        if policies.iter().all(|policy| policy == "noeviction") {
            return (value, Verdict::Well);
        }
        let remedy = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf: otherwise locks, idempotency \
                      keys and limits vanish when memory is full";
        (value, Verdict::fault(remedy))
    }

    pub(super) fn connections(&self) -> Seen {
        let clients = || self.figures().map(|figures| &figures.clients);
        let fullest = clients().filter_map(Clients::percent_used).max_by(f64::total_cmp);
        let Some(percent) = fullest else { return ("not told".to_owned(), Verdict::Well) };
        let connected = clients().filter_map(|clients| clients.connected).max().unwrap_or(0);
        let limit = clients().filter_map(|clients| clients.limit).min().unwrap_or(0);
        let value = format!("{connected} of {limit}");
        match percent {
            _ if percent > FULL => {
                let remedy = "raise maxclients, or look who holds so many (CLIENT LIST)";
                (value, Verdict::warning(remedy))
            }
            _ => (value, Verdict::Well),
        }
    }

    pub(super) fn clock(&self) -> Seen {
        let clocks = self.figures().filter_map(|figures| figures.clock);
        let Some(worst) = clocks.max_by_key(|clock| clock.by) else {
            return ("not told".to_owned(), Verdict::Well);
        };
        let by = worst.by.saturating_sub(worst.error);
        let direction = if worst.ahead { "ahead of" } else { "behind" };
        let value = match by {
            _ if by <= NEAR => "as that of this machine".to_owned(),
            _ if by <= FAR => format!("{} {direction} that of this machine", ms(by)),
            _ => format!("{} s {direction} that of this machine", by.as_secs()),
        };
        let remedy = "set both clocks by NTP (timedatectl set-ntp true): days of visitors begin by the clock of Redis, \
                      and fences of locks grow with it";
        match by {
            _ if by > FAR => (value, Verdict::fault(remedy)),
            _ if by > APART => (value, Verdict::warning(remedy)),
            _ => (value, Verdict::Well),
        }
    }

    pub(super) async fn replication(&mut self) -> Seen {
        if let Some(seen) = self.refused(Check::Replication) {
            return seen;
        }
        let replicas = self.figures().filter_map(|figures| figures.replication.replicas).sum::<u64>();
        let good = self.figures().filter_map(|figures| figures.replication.good_replicas).min();
        let needed =
            self.setting("min-replicas-to-write").await.and_then(|number| number.parse::<u64>().ok());
        let value = match (replicas, needed) {
            (0, _) => "no replicas".to_owned(),
            (replicas, Some(needed)) if needed > 0 => {
                format!("{replicas} replicas, of which writes need {needed}")
            }
            (replicas, _) => format!("{replicas} replicas, for which writes do not wait"),
        };
        match (needed, good.or(Some(replicas))) {
            (Some(needed), Some(good)) if good < needed => {
                let remedy = "start or reconnect replicas, or CONFIG SET min-replicas-to-write 0: until then Redis \
                              refuses all writes";
                (format!("{good} replicas in step, {needed} needed"), Verdict::fault(remedy))
            }
            _ => (value, Verdict::Well),
        }
    }

    pub(super) async fn persistence(&mut self) -> Seen {
        if let Some(seen) = self.refused(Check::Persistence) {
            return seen;
        }
        let saved = |wanted: fn(&Figures) -> Option<bool>| {
            let told: Vec<bool> = self.figures().filter_map(wanted).collect();
            told.iter().all(|yes| *yes).then_some(told.len())
        };
        let is_ok = |figures: &Figures| {
            let of = &figures.persistence;
            Some(of.snapshot_ok != Some(false) && of.append_ok != Some(false))
        };
        if saved(is_ok).is_none() {
            let remedy = "look into the log of Redis and for space on its disk: by default it refuses writes until it \
                          can save";
            return ("the last save failed".to_owned(), Verdict::fault(remedy));
        }
        let appends = saved(|figures| figures.persistence.append_only).is_some_and(|servers| servers > 0);
        if appends {
            return ("a log of all changes (AOF)".to_owned(), Verdict::Well);
        }
        match self.setting("save").await.as_deref() {
            Some("") => {
                let remedy = "CONFIG SET appendonly yes, unless locks, idempotency keys and limits may begin anew after \
                              a restart";
                ("none: a restart begins empty".to_owned(), Verdict::warning(remedy))
            }
            Some(_) => ("snapshots now and then (RDB)".to_owned(), Verdict::Well),
            None => ("not told".to_owned(), Verdict::Well),
        }
    }
}

impl Figures {
    /// Software and version.
    fn release(&self) -> String {
        format!("{} {}", self.software, self.version)
    }
}
