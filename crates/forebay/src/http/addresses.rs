//! Which address a request counts as: the other end of its connection, unless that is trusted to know better.

use std::{fmt, net::IpAddr};

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use subtle::ConstantTimeEq;

use super::forwarded::{ForwardedList, nearest};
use crate::error::{Error, ErrorKind};

/// The least length of a secret: one that can be guessed is a way to choose any address.
const SECRET_BYTES: usize = 16;

/// The rules by which the address of a client is found. A header that nobody vouches for is never believed.
///
/// 1. Where the request shows the secret of the content-delivery network, one header with the client's address
///    counts.
/// 2. Where the other end of the connection is a trusted proxy, its list of hops is read from the right, and the
///    first that is no trusted proxy is the client. A hop that cannot be read ends the list.
/// 3. Otherwise the other end of the connection is the client.
///
/// # Example
///
/// ```
/// use forebay::http::Addresses;
/// use http::HeaderMap;
///
/// let addresses = Addresses::new().trusted(["10.0.0.0/8"])?;
/// let mut headers = HeaderMap::new();
/// headers.insert("x-forwarded-for", "6.6.6.6, 203.0.113.9".parse()?);
///
/// let client = |peer: &str| addresses.client(peer.parse().ok(), &headers).unwrap().to_string();
/// assert_eq!(client("10.0.0.7"), "203.0.113.9");
/// assert_eq!(client("198.51.100.4"), "198.51.100.4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Addresses {
    trusted: Vec<IpNet>,
    list: ForwardedList,
    secrets: Vec<Box<[u8]>>,
    secret_header: HeaderName,
    address_header: HeaderName,
    prefix: u8,
}

impl Default for Addresses {
    fn default() -> Self {
        Self {
            trusted: Vec::new(),
            list: ForwardedList::default(),
            secrets: Vec::new(),
            secret_header: HeaderName::from_static("x-from-cdn"),
            address_header: HeaderName::from_static("cdn-real-ip"),
            // What one customer commonly gets, to choose addresses from at will.
            prefix: 64,
        }
    }
}

impl Addresses {
    /// Begins rules that trust nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts proxies in these networks, such as `10.0.0.0/8`, or at these addresses, beside those named before.
    /// Default: none.
    ///
    /// # Errors
    ///
    /// A text that is neither a network nor an address.
    pub fn trusted<T: AsRef<str>>(mut self, networks: impl IntoIterator<Item = T>) -> Result<Self, Error> {
        for text in networks {
            self.trusted.push(network(text.as_ref())?);
        }
        Ok(self)
    }

    /// Sets which list the trusted proxies write. Default: [`ForwardedList::XForwardedFor`].
    #[must_use]
    pub fn forwarded_list(self, list: ForwardedList) -> Self {
        Self { list, ..self }
    }

    /// Accepts a secret, of at least 16 bytes, that only the content-delivery network knows, beside those named
    /// before. Default: none.
    ///
    /// # Errors
    ///
    /// A secret that is too short.
    pub fn cdn_secret(mut self, secret: impl AsRef<[u8]>) -> Result<Self, Error> {
        let secret = secret.as_ref();
        if secret.len() < SECRET_BYTES {
            let why = format!("cdn_secret has {} bytes; it needs at least {SECRET_BYTES}", secret.len());
            return Err(Error::new(ErrorKind::Config, why));
        }
        self.secrets.push(secret.into());
        Ok(self)
    }

    /// Sets the header that shows the secret. Default: `X-From-CDN`.
    #[must_use]
    pub fn cdn_secret_header(self, name: HeaderName) -> Self {
        Self { secret_header: name, ..self }
    }

    /// Sets the header that has the client's address where the secret is right. Default: `CDN-Real-IP`.
    #[must_use]
    pub fn cdn_address_header(self, name: HeaderName) -> Self {
        Self { address_header: name, ..self }
    }

    /// Sets how many bits of an IPv6 address count: who shares them shares a quota. At most 128. Default: 64.
    #[must_use]
    pub fn ipv6_prefix(self, bits: u8) -> Self {
        Self { prefix: bits.min(128), ..self }
    }

    pub(super) fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Finds the address of the client of a request that came from `peer` with these headers.
    #[must_use]
    pub fn client(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        let peer = peer.map(|peer| peer.to_canonical());
        self.behind_cdn(headers).or_else(|| Some(self.behind_proxies(peer?, headers)))
    }

    fn behind_cdn(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let shown = headers.get_all(&self.secret_header);
        let knows = |secret: &[u8]| shown.iter().any(|value| bool::from(value.as_bytes().ct_eq(secret)));
        let vouched = self.secrets.iter().any(|secret| knows(secret));
        vouched
            .then(|| nearest(headers, &self.address_header))
            .flatten()
            .map(|address| address.to_canonical())
    }

    fn behind_proxies(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        let mut hops = self.list.hops(headers);
        while self.trusts(client)
            && let Some(Some(hop)) = hops.next()
        {
            client = hop.to_canonical();
        }
        client
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(&address))
    }
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Addresses")
            .field("trusted", &self.trusted)
            .field("list", &self.list)
            .field("secrets", &self.secrets.len())
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// Reads a network, or an address as the network of itself alone; an IPv4-mapped one is IPv4, as peers are.
fn network(text: &str) -> Result<IpNet, Error> {
    let read = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let network = read.map_err(|error| {
        let why = format!("`{text}` is no network such as 10.0.0.0/8, and no address");
        Error::new(ErrorKind::Config, why).with_source(error)
    })?;
    let address = network.addr().to_canonical();
    if address == network.addr() {
        return Ok(network);
    }
    let mapped = network.prefix_len().checked_sub(96).and_then(|bits| IpNet::new(address, bits).ok());
    mapped.ok_or_else(|| {
        let why = format!("`{text}` is wider than all of IPv4, which is ::ffff:0:0/96; write {address}/…");
        Error::new(ErrorKind::Config, why)
    })
}
