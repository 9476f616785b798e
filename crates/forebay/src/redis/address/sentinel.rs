//! `redis+sentinel://[user:password@]host[:port],host[:port]/name[/database]`: sentinels, and the name by which they
//! know the primary.

use std::sync::Arc;

use redis::ConnectionInfo;

use super::{Address, Kind, hosts, refuse, seed, sibling};
use crate::error::Error;

/// Where sentinels listen if nothing else is said.
const PORT: &str = "26379";

const USER: &str = "sentinel_user";
const PASSWORD: &str = "sentinel_password";

/// What may follow a `?`.
pub(super) const OPTIONS: [&str; 2] = [USER, PASSWORD];

/// What takes another meaning in front of a host than in a query.
const ESCAPED: [(char, &str); 4] = [('@', "%40"), (':', "%3A"), ('/', "%2F"), (',', "%2C")];

/// A primary that is asked for by its name.
#[derive(Debug, Clone)]
pub(in super::super) struct Monitored {
    pub(in super::super) name: String,
    /// How to speak to it, at some other place.
    info: ConnectionInfo,
}

impl Monitored {
    /// How to speak to it at this place.
    pub(in super::super) fn at(&self, host: &str, port: u16) -> ConnectionInfo {
        sibling(&self.info, host, port)
    }
}

/// The parts of a URL behind its scheme.
struct Parts<'a> {
    /// `user:password@`, or nothing.
    user: &'a str,
    hosts: &'a str,
    name: &'a str,
    /// `/database`, or nothing.
    database: String,
    options: Vec<(&'a str, &'a str)>,
}

pub(super) fn parse(scheme: &str, rest: &str) -> Result<Address, Error> {
    let parts = Parts::of(rest)?;
    let user = parts.sentinel_user()?;
    let (sentinels, database) = (format!("{user}{}", parts.hosts), &parts.database);
    let seeds = hosts(&sentinels).map(|host| seed(&format!("{scheme}://{}", with_port(&host))));
    let seeds = seeds.collect::<Result<Vec<_>, _>>()?;
    let primary = format!("{scheme}://{}sentinel{database}", parts.user);
    let monitored = Monitored { name: parts.name.to_owned(), info: seed(&primary)? };
    Ok(Address { seeds, kind: Kind::Sentinels(Arc::new(monitored)) })
}

impl<'a> Parts<'a> {
    fn of(rest: &'a str) -> Result<Self, Error> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        let (name, database) = path.split_once('/').unwrap_or((path, ""));
        if name.is_empty() {
            return Err(refuse("has sentinels but not the name of the primary"));
        }
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
            return Err(refuse("has a name that no primary can have: letters, digits, and any of . _ -"));
        }
        if hosts.split(',').any(|host| host.is_empty() || host.starts_with(':')) {
            return Err(refuse("has no host"));
        }
        let database = if database.is_empty() { String::new() } else { format!("/{database}") };
        let options = query.split('&').filter_map(|option| option.split_once('=')).collect();
        Ok(Self { user, hosts, name, database, options })
    }

    /// `user:password@` for the sentinels, who have those of the primary unless others are given.
    fn sentinel_user(&self) -> Result<String, Error> {
        let option = |wanted| self.options.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        match (option(USER), option(PASSWORD)) {
            (None, None) => Ok(self.user.to_owned()),
            (Some(user), None) if !user.is_empty() => {
                Err(refuse("has a sentinel_user without a sentinel_password, which is to be added"))
            }
            (_, None | Some("")) => Ok(String::new()),
            (user, Some(password)) => {
                Ok(format!("{}:{}@", escaped(user.unwrap_or_default()), escaped(password)))
            }
        }
    }
}

fn escaped(text: &str) -> String {
    ESCAPED.iter().fold(text.to_owned(), |text, (sign, escape)| text.replace(*sign, escape))
}

/// The `user:password@host` of one sentinel, with the port of sentinels if it has none.
fn with_port(host: &str) -> String {
    let bare = host.rsplit_once('@').map_or(host, |(_, bare)| bare);
    let has_port = bare.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
    if has_port { host.to_owned() } else { format!("{host}:{PORT}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> (Address, Arc<Monitored>) {
        let address = Address::parse(url).unwrap();
        let Kind::Sentinels(primary) = address.kind.clone() else { panic!("{url}: {address:?}") };
        (address, primary)
    }

    fn credentials(info: &ConnectionInfo) -> (Option<&str>, Option<&str>) {
        (info.redis_settings().username(), info.redis_settings().password())
    }

    #[test]
    fn sentinels_have_a_port_of_their_own_and_the_primary_has_a_database() {
        let (address, primary) = parsed("redis+sentinel://a,b:1,[::1]/shop/3");
        let seeds: Vec<_> = address.seeds.iter().map(|seed| seed.addr().to_string()).collect();
        assert_eq!(seeds, ["a:26379", "b:1", "::1:26379"]);
        assert!(address.seeds.iter().all(|seed| seed.redis_settings().db() == 0));
        let found = primary.at("10.0.0.7", 7000);
        assert_eq!((primary.name.as_str(), found.addr().to_string().as_str()), ("shop", "10.0.0.7:7000"));
        assert_eq!(found.redis_settings().db(), 3);
    }

    #[test]
    fn sentinels_are_asked_as_the_primary_unless_they_have_a_user_of_their_own() {
        let (address, primary) = parsed("valkey+sentinel://ann:s%40crt@a/shop");
        assert_eq!(credentials(&primary.at("b", 1)), (Some("ann"), Some("s@crt")));
        assert_eq!(credentials(&address.seeds[0]), (Some("ann"), Some("s@crt")));

        let (address, primary) =
            parsed("redis+sentinel://:one@a/shop?sentinel_user=bob&sentinel_password=t/w@o");
        assert_eq!(credentials(&primary.at("b", 1)), (None, Some("one")));
        assert_eq!(credentials(&address.seeds[0]), (Some("bob"), Some("t/w@o")));

        let (address, _) = parsed("redis+sentinel://:one@a/shop?sentinel_password=");
        assert_eq!(credentials(&address.seeds[0]), (None, None));
    }

    #[test]
    fn tls_is_spoken_with_both() {
        let (address, primary) = parsed("rediss+sentinel://a/shop");
        for info in [&address.seeds[0], &primary.at("b", 1)] {
            assert!(matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }), "{info:?}");
        }
    }

    #[test]
    fn what_contradicts_is_refused_with_what_to_do() {
        for (url, says) in [
            ("redis+sentinel://:secret@a", "the name of the primary"),
            ("redis+sentinel://:secret@a/", "the name of the primary"),
            ("redis+sentinel://:secret@a/my%20shop", "letters, digits"),
            ("redis+sentinel://:secret@/shop", "no host"),
            ("redis+sentinel://:secret@a,/shop", "no host"),
            ("redis+sentinel://:secret@a/shop/nine", "cannot be used"),
            ("redis+sentinel://a/shop?sentinel_user=secret", "sentinel_password"),
            ("redis://:secret@a,b/shop", "+sentinel"),
        ] {
            let refusal = Address::parse(url).unwrap_err().to_string();
            assert!(refusal.contains(says) && !refusal.contains("secret"), "{url}: {refusal}");
        }
    }
}
