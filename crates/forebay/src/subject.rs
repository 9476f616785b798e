//! Who is asking, as one string that no other kind of caller can have.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

/// The first 96 bits of `64:ff9b::/96`.
const NAT64: u128 = 0x0064_ff9b_0000_0000_0000_0000;

/// Names who is asking: a user, an API key, a tenant, an anonymous visitor or an address.
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

    /// Names a tenant: an organisation whose users share a quota beside their own.
    #[must_use]
    pub fn tenant(id: impl fmt::Display) -> Self {
        Self::of("tenant", id)
    }

    /// Names a visitor by an id that the service gave out and signed.
    #[must_use]
    pub fn anonymous(id: impl fmt::Display) -> Self {
        Self::of("anonymous", id)
    }

    /// Names an address. An IPv6 address counts as its /64, which is what one customer commonly owns; one that
    /// stands for an IPv4 address, mapped or by NAT64, is that IPv4 address.
    #[must_use]
    pub fn address(address: IpAddr) -> Self {
        Self::network(address, 64)
    }

    /// Names an address as [`Subject::address`] does, with an IPv6 address counted as its network of `prefix`
    /// bits, at most 128.
    ///
    /// # Example
    ///
    /// ```
    /// use forebay::Subject;
    ///
    /// let address = "2001:db8:1:2::3".parse()?;
    /// assert_eq!(Subject::network(address, 48).to_string(), "address:2001:db8:1::/48");
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    #[must_use]
    pub fn network(address: IpAddr, prefix: u8) -> Self {
        match unwrapped(address) {
            IpAddr::V4(address) => Self::of("address", address),
            IpAddr::V6(address) => {
                let prefix = prefix.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
                let network = Ipv6Addr::from_bits(address.to_bits() & mask);
                Self::of("address", format_args!("{network}/{prefix}"))
            }
        }
    }

    /// Names everybody of whom nothing is known, not even an address, together.
    #[must_use]
    pub fn unknown() -> Self {
        Self::of("address", "unknown")
    }

    /// Takes a subject as it is displayed, from where it arrives as text: `user:42` is `Subject::user("42")`, and
    /// a text without a kind is a subject of its own.
    ///
    /// Whoever spells a subject can spell anybody's. Use the other constructors for what a client says of itself.
    #[must_use]
    pub fn spelled(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
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

/// The IPv4 address that an IPv6 address stands for, where it does: mapped, or under the prefix of NAT64
/// (RFC 6052).
fn unwrapped(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if address.to_bits() >> 32 == NAT64 => {
            let [.., a, b, c, d] = address.octets();
            Ipv4Addr::new(a, b, c, d).into()
        }
        address => address,
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
    fn a_subject_is_spelled_as_it_is_displayed() {
        let user = Subject::user("42");

        assert_eq!(Subject::spelled(user.as_str()), user);
        assert_ne!(Subject::spelled("42"), user);
    }

    // P5: everybody whose IPv4 address came as an IPv6 one was in the bucket of one network (GHSA-46wh-pxpv-q5gq).
    #[test]
    fn an_ipv4_mapped_address_is_the_ipv4_address() {
        assert_ne!(address("::ffff:1.2.3.4"), address("::ffff:5.6.7.8"));
        assert_eq!(address("::ffff:203.0.113.9"), "address:203.0.113.9");
        assert_eq!(address("::ffff:203.0.113.9"), address("203.0.113.9"));
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_subject() {
        assert_eq!(address("2001:db8:1:2:3:4:5:6"), "address:2001:db8:1:2::/64");
        assert_eq!(address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
    }

    // P6: all users behind one NAT64 share its prefix.
    #[test]
    fn an_address_translated_by_nat64_is_the_ipv4_address() {
        assert_eq!(address("64:ff9b::203.0.113.9"), "address:203.0.113.9");
        assert_eq!(address("64:ff9b:0:0:0:1::"), "address:64:ff9b::/64");
    }

    // P8: a policy by wider networks, against somebody who owns one.
    #[test]
    fn a_network_is_as_wide_as_asked_for() {
        let network = |prefix| Subject::network("2001:db8:1:2::3".parse().unwrap(), prefix).to_string();

        assert_eq!(
            [0, 32, 128, 255].map(network),
            [
                "address:::/0",
                "address:2001:db8::/32",
                "address:2001:db8:1:2::3/128",
                "address:2001:db8:1:2::3/128"
            ]
        );
        assert_eq!(Subject::network("203.0.113.9".parse().unwrap(), 8).to_string(), "address:203.0.113.9");
    }
}
