//! Who is asking, as one string that no other kind of caller can have.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

/// Names who is asking: a user, an API key, an anonymous visitor or an address.
///
/// # Example
///
/// ```
/// use forebay::Subject;
///
/// assert_eq!(Subject::user("42").to_string(), "user:42");
/// assert_ne!(Subject::user("42"), Subject::key("42"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject(Arc<str>);

impl Subject {
    /// Names a user who is signed in.
    #[must_use]
    pub fn user(id: impl fmt::Display) -> Self {
        Self::of("user", id)
    }

    /// Names an API key by its id. The key itself is a secret, and subjects appear in logs and keys.
    #[must_use]
    pub fn key(id: impl fmt::Display) -> Self {
        Self::of("key", id)
    }

    /// Names a visitor by an id that the service gave out and signed.
    #[must_use]
    pub fn anonymous(id: impl fmt::Display) -> Self {
        Self::of("anonymous", id)
    }

    /// Names an address. An IPv4-mapped IPv6 address is its IPv4 address; any other counts as its /64, which is
    /// what one customer commonly owns.
    #[must_use]
    pub fn address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::of("address", address),
            IpAddr::V6(address) => {
                let network = Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64));
                Self::of("address", format_args!("{network}/64"))
            }
        }
    }

    /// Borrows the subject as it is displayed, for example `user:42`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of(kind: &str, id: impl fmt::Display) -> Self {
        Self(format!("{kind}:{id}").into())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> String {
        Subject::address(text.parse().unwrap()).to_string()
    }

    #[test]
    fn kinds_never_collide() {
        let subjects = [Subject::user("address:::1"), Subject::key("user:1"), Subject::anonymous("key:1")];

        assert_eq!(
            subjects.map(|subject| subject.to_string()),
            ["user:address:::1", "key:user:1", "anonymous:key:1"]
        );
    }

    #[test]
    fn an_ipv4_mapped_address_is_the_ipv4_address() {
        assert_eq!(address("::ffff:203.0.113.9"), "address:203.0.113.9");
        assert_eq!(address("::ffff:203.0.113.9"), address("203.0.113.9"));
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_subject() {
        assert_eq!(address("2001:db8:1:2:3:4:5:6"), "address:2001:db8:1:2::/64");
        assert_eq!(address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
    }
}
