//! Reads `INFO`: `name:value` lines, of which every version has some others.

use std::{collections::HashMap, time::Duration};

use super::figures::{Clients, Database, Figures, Memory, Persistence, Replication, Traffic};

/// The lines of an answer by their names.
struct Fields<'a>(HashMap<&'a str, &'a str>);

/// What an `INFO` of all usual sections says; what it does not say is missing.
pub(super) fn parse(text: &str) -> Figures {
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(':'));
    let fields = Fields(lines.map(|(name, value)| (name.trim(), value.trim())).collect());
    let (software, version) = fields.software();
    Figures {
        software,
        version,
        mode: fields.text("redis_mode").or_else(|| fields.text("server_mode")),
        run_id: fields.text("run_id"),
        uptime: fields.number("uptime_in_seconds").map(Duration::from_secs),
        memory: fields.memory(),
        clients: Clients {
            connected: fields.number("connected_clients"),
            limit: fields.number("maxclients"),
            blocked: fields.number("blocked_clients"),
        },
        traffic: fields.traffic(),
        persistence: fields.persistence(),
        replication: fields.replication(),
        databases: fields.databases(),
        clock: None,
    }
}

impl Fields<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).map(|value| (*value).to_owned())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.number(name).map(|number| number > 0)
    }

    /// Whether the value is `good`.
    fn is(&self, name: &str, good: &str) -> Option<bool> {
        self.0.get(name).map(|value| *value == good)
    }

    /// A Valkey also tells of the Redis that it stands in for.
    fn software(&self) -> (String, String) {
        let version = |name| self.text(name).unwrap_or_default();
        match self.text("valkey_version") {
            Some(valkey) => ("valkey".to_owned(), valkey),
            None => {
                (self.text("server_name").unwrap_or_else(|| "redis".to_owned()), version("redis_version"))
            }
        }
    }

    fn memory(&self) -> Memory {
        Memory {
            used: self.number("used_memory"),
            peak: self.number("used_memory_peak"),
            resident: self.number("used_memory_rss"),
            limit: self.number("maxmemory"),
            machine: self.number("total_system_memory"),
            fragmentation: self.0.get("mem_fragmentation_ratio").and_then(|ratio| ratio.parse().ok()),
            policy: self.text("maxmemory_policy"),
        }
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            hits: self.number("keyspace_hits"),
            misses: self.number("keyspace_misses"),
            commands: self.number("total_commands_processed"),
            commands_per_second: self.number("instantaneous_ops_per_sec"),
            expired: self.number("expired_keys"),
            evicted: self.number("evicted_keys"),
            rejected: self.number("rejected_connections"),
        }
    }

    fn persistence(&self) -> Persistence {
        Persistence {
            loading: self.flag("loading"),
            append_only: self.flag("aof_enabled"),
            append_ok: self.is("aof_last_write_status", "ok"),
            snapshot_ok: self.is("rdb_last_bgsave_status", "ok"),
            unsaved: self.number("rdb_changes_since_last_save"),
        }
    }

    fn replication(&self) -> Replication {
        Replication {
            is_replica: self.is("role", "slave"),
            replicas: self.number("connected_slaves"),
            linked: self.is("master_link_status", "up"),
            good_replicas: self.number("min_slaves_good_slaves"),
        }
    }

    /// As in `db0:keys=3,expires=2,avg_ttl=5`.
    fn databases(&self) -> Vec<Database> {
        let database = |(name, value): (&&str, &&str)| {
            let number = name.strip_prefix("db")?.parse().ok()?;
            let part = |wanted: &str| {
                let parts = value.split(',').filter_map(|part| part.split_once('='));
                parts.filter(|(name, _)| *name == wanted).find_map(|(_, count)| count.parse().ok())
            };
            Some(Database { number, keys: part("keys")?, expiring: part("expires").unwrap_or(0) })
        };
        let mut databases: Vec<_> = self.0.iter().filter_map(database).collect();
        databases.sort_by_key(|database| database.number);
        databases
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SERVER: &str = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:4f\r\n\
        uptime_in_seconds:90061\r\n\r\n# Clients\r\nconnected_clients:3\r\nmaxclients:10000\r\n\
        # Memory\r\nused_memory:1048576\r\nused_memory_human:1.00M\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\
        mem_fragmentation_ratio:1.25\r\n# Persistence\r\nloading:0\r\nrdb_last_bgsave_status:err\r\naof_enabled:0\r\n\
        # Stats\r\nkeyspace_hits:9\r\nkeyspace_misses:1\r\n# Replication\r\nrole:slave\r\nmaster_link_status:down\r\n\
        # Keyspace\r\ndb10:keys=1,expires=0,avg_ttl=0\r\ndb0:keys=12,expires=11,avg_ttl=5,subexpiry=0\r\n";

    #[test]
    fn the_usual_sections_become_figures() {
        let figures = parse(SERVER);
        assert_eq!((figures.software.as_str(), figures.version.as_str()), ("redis", "7.0.15"));
        assert_eq!(figures.uptime, Some(Duration::from_secs(90_061)));
        assert_eq!((figures.clients.connected, figures.clients.limit), (Some(3), Some(10_000)));
        assert_eq!((figures.memory.used, figures.memory.limit), (Some(1 << 20), Some(0)));
        assert_eq!((figures.memory.fragmentation, figures.memory.percent_used()), (Some(1.25), None));
        assert_eq!(figures.persistence.snapshot_ok, Some(false));
        assert_eq!(figures.replication.is_replica, Some(true));
        let databases: Vec<_> =
            figures.databases.iter().map(|db| (db.number, db.keys, db.expiring)).collect();
        assert_eq!(databases, [(0, 12, 11), (10, 1, 0)]);
    }

    #[test]
    fn a_valkey_is_no_redis_of_the_version_that_it_stands_in_for() {
        let figures = parse(
            "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\nserver_mode:cluster\r\n",
        );
        assert_eq!((figures.software.as_str(), figures.version.as_str()), ("valkey", "8.0.1"));
        assert_eq!(figures.mode.as_deref(), Some("cluster"));
    }

    #[test]
    fn what_an_older_server_does_not_tell_is_missing_and_nothing_else() {
        let figures = parse("redis_version:6.2.0\r\nused_memory:7\r\nkeyspace_hits:-\r\n");
        assert_eq!(figures.memory.used, Some(7));
        assert_eq!((figures.traffic.hits, figures.clients.limit, figures.uptime), (None, None, None));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([a-z_0-9]{0,9}:?[a-z=,.0-9-]{0,9}\r?\n){0,20}", other in any::<String>()) {
            parse(&text);
            parse(&other);
        }
    }
}
