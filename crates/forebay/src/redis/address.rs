//! Where Redis is: a URL, taken apart and checked before anything connects.

mod sentinel;

use std::{sync::Arc, time::Duration};

use redis::{
    ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion,
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};

pub(super) use self::sentinel::Monitored;
use super::{home::Home, sentinels::Sentinels};
use crate::{
    clock::Clock,
    error::{Error, ErrorKind},
};

/// Unanswered data closes the connection after this: the kernel then tells what a silent hole never does.
const USER_TIMEOUT: Duration = Duration::from_secs(5);

const FORM: &str = "write redis://[user:password@]host[:port][/database], rediss:// for TLS, \
                    redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/name with the \
                    addresses of sentinels and the name of the primary; valkey does in the place of redis";

/// Whom to ask first, each with how to speak to it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// The server, some nodes of the cluster, or the sentinels.
    pub(super) seeds: Vec<ConnectionInfo>,
    pub(super) kind: Kind,
}

/// What the seeds are, by the end of the scheme.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Server,
    Cluster,
    Sentinels(Arc<Monitored>),
}

impl Address {
    /// Takes `redis://`, `rediss://`, `valkey://`, `valkeys://`, and these with `+cluster` or `+sentinel`.
    ///
    /// # Errors
    ///
    /// Anything else; the message shows no part of the URL, which may hold a password.
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| refuse("has no scheme"))?;
        let (scheme, topology) = scheme.split_once('+').unwrap_or((scheme, ""));
        if !["redis", "rediss", "valkey", "valkeys"].contains(&scheme) {
            return Err(refuse("has an unknown scheme"));
        }
        if rest.contains('#') {
            return Err(refuse("holds a #, which is written %23 in a password"));
        }
        check_options(rest, if topology == "sentinel" { &sentinel::OPTIONS } else { &[] })?;
        match topology {
            "" => Self::of_server(scheme, rest),
            "cluster" => Self::of_cluster(scheme, rest),
            "sentinel" => sentinel::parse(scheme, rest),
            _ => Err(refuse("has an unknown scheme")),
        }
    }

    fn of_server(scheme: &str, rest: &str) -> Result<Self, Error> {
        let seeds = seeds(scheme, rest)?;
        if seeds.len() > 1 {
            return Err(refuse("names several hosts without +cluster or +sentinel"));
        }
        Ok(Self { seeds, kind: Kind::Server })
    }

    fn of_cluster(scheme: &str, rest: &str) -> Result<Self, Error> {
        let seeds = seeds(scheme, rest)?;
        if seeds.iter().any(|seed| seed.redis_settings().db() != 0) {
            return Err(refuse("names a database, of which a cluster has only one"));
        }
        Ok(Self { seeds, kind: Kind::Cluster })
    }

    /// Where to find a node that can be asked first.
    pub(super) fn homes(&self, clock: &Clock) -> Vec<Home> {
        match &self.kind {
            Kind::Server | Kind::Cluster => self.seeds.iter().cloned().map(Home::fixed).collect(),
            Kind::Sentinels(primary) => {
                vec![Home::Named(Arc::new(Sentinels::new(&self.seeds, primary.clone(), clock.clone())))]
            }
        }
    }

    /// Chooses who encrypts, if the program has not: with two to choose from, the first connection would panic.
    pub(super) fn prepare(&self) {
        if matches!(self.seeds[0].addr(), ConnectionAddr::TcpTls { .. }) {
            // Refused where the program has chosen before.
            rustls::crypto::ring::default_provider().install_default().ok();
        }
    }

    /// How to speak to another node of the same cluster.
    pub(super) fn sibling(&self, host: &str, port: u16) -> ConnectionInfo {
        sibling(&self.seeds[0], host, port)
    }
}

/// How to speak to a server elsewhere as to this one.
fn sibling(info: &ConnectionInfo, host: &str, port: u16) -> ConnectionInfo {
    let addr = match info.addr().clone() {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host: host.into(), port, insecure, tls_params }
        }
        _ => ConnectionAddr::Tcp(host.into(), port),
    };
    info.clone().set_addr(addr)
}

fn seeds(scheme: &str, rest: &str) -> Result<Vec<ConnectionInfo>, Error> {
    hosts(rest).map(|rest| seed(&format!("{scheme}://{rest}"))).collect()
}

/// `user:password@a:1,b:2/0` as `user:password@a:1/0` and `user:password@b:2/0`.
fn hosts(rest: &str) -> impl Iterator<Item = String> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let at = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, hosts) = authority.split_at(at);
    hosts.split(',').map(move |host| format!("{user}{host}{tail}"))
}

fn seed(url: &str) -> Result<ConnectionInfo, Error> {
    let info = url.into_connection_info().map_err(|error| refuse(&format!("cannot be used ({error})")))?;
    let missing = match info.addr() {
        ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => host.is_empty(),
        _ => false,
    };
    if missing {
        return Err(refuse("has no host"));
    }
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
    let keepalive = TcpKeepalive::new().with_time(USER_TIMEOUT);
    let tcp =
        TcpSettings::default().set_nodelay(true).set_user_timeout(USER_TIMEOUT).set_keepalive(keepalive);
    Ok(info.set_redis_settings(settings).set_tcp_settings(tcp))
}

/// Refuses parameters behind a `?` that are not among the `known` ones, or are given twice.
fn check_options(rest: &str, known: &[&str]) -> Result<(), Error> {
    let (_, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut given = Vec::new();
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let (name, _) = option.split_once('=').unwrap_or((option, ""));
        if !known.contains(&name) {
            return Err(refuse(
                "has a parameter that there is not: behind a ? there may be sentinel_user and sentinel_password",
            ));
        }
        if given.contains(&name) {
            return Err(refuse("has a parameter twice"));
        }
        given.push(name);
    }
    Ok(())
}

fn refuse(why: &str) -> Error {
    Error::new(ErrorKind::Config, format!("the Redis URL {why}; {FORM}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(url: &str) -> Vec<String> {
        Address::parse(url).unwrap().seeds.iter().map(|seed| seed.addr().to_string()).collect()
    }

    #[test]
    fn a_cluster_has_the_user_at_every_host() {
        let address = Address::parse("redis+cluster://ann:s%40crt@a:1,b:2").unwrap();
        assert!(matches!(address.kind, Kind::Cluster));
        for seed in &address.seeds {
            assert_eq!(seed.redis_settings().username(), Some("ann"));
            assert_eq!(seed.redis_settings().password(), Some("s@crt"));
        }
        assert_eq!(addresses("redis+cluster://ann:s%40crt@a:1,b:2"), ["a:1", "b:2"]);
    }

    #[test]
    fn the_port_has_a_default() {
        assert_eq!(addresses("redis://localhost"), ["localhost:6379"]);
        assert_eq!(addresses("rediss://[::1]/3"), ["::1:6379"]);
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_its_password() {
        for url in [
            "",
            "localhost:6379",
            "http://:secret@localhost",
            "redis://",
            "redis://:secret@",
            "redis://:secret@localhost/nine",
            "redis://:secret@localhost:99999",
            "redis://:secret@a,b",
            "redis+sentinel://:secret@a",
            "redis+cluster://:secret@a,b/1",
            "redis://:secret@0.0.0.0",
            "redis://:secret@a?sentinel_user=x",
            "redis+cluster://:secret@a?x=1",
            "redis+sentinel://:secret@a/m?sentinel_pasword=x",
            "redis+sentinel://:secret@a/m?sentinel_password=secret&sentinel_password=secret",
        ] {
            let refusal = Address::parse(url).unwrap_err().to_string();
            assert!(refusal.contains("redis://") && !refusal.contains("secret"), "{url}: {refusal}");
        }
    }
}
