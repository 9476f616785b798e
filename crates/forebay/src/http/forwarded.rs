//! The lists in which proxies note for whom they forward, read from the right.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{HeaderMap, HeaderName, HeaderValue, header};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Names the list that trusted proxies write. Only one is read: a proxy that writes one passes the other on
/// as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForwardedList {
    /// The header `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// The header `Forwarded` (RFC 7239). A line with a quoted value that has more in it than an address is not
    /// believed at all, since a client can make such a line read in two ways.
    Forwarded,
}

impl ForwardedList {
    /// The hops from the nearest to the furthest, over all lines; `None` is one that cannot be read.
    pub(super) fn hops(self, headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
        let name = match self {
            Self::XForwardedFor => X_FORWARDED_FOR,
            Self::Forwarded => header::FORWARDED,
        };
        let lines = headers.get_all(name).into_iter().rev();
        lines.flat_map(move |line| self.read(line))
    }

    fn read(self, line: &HeaderValue) -> impl Iterator<Item = Option<IpAddr>> {
        let bytes = match self {
            Self::Forwarded if !is_plain(line.as_bytes()) => &b"?"[..],
            _ => line.as_bytes(),
        };
        elements(bytes).map(move |element| match self {
            Self::XForwardedFor => address(element?),
            Self::Forwarded => address(node(element?)?),
        })
    }
}

/// The rightmost address of a header that is meant to hold one.
pub(super) fn nearest(headers: &HeaderMap, name: &HeaderName) -> Option<IpAddr> {
    let line = headers.get_all(name).into_iter().next_back()?;
    elements(line.as_bytes()).next().flatten().and_then(address)
}

/// The elements of a comma-separated line from the right; empty ones do not count, `None` is not text.
fn elements(line: &[u8]) -> impl Iterator<Item = Option<&str>> {
    let trimmed = line.rsplit(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    trimmed.filter(|element| !element.is_empty()).map(|element| str::from_utf8(element).ok())
}

/// Reads an address with or without a port, in brackets or not.
fn address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Some(bracketed) = text.strip_prefix('[') {
        let (address, port) = bracketed.split_once(']')?;
        let address = address.parse::<Ipv6Addr>().ok()?;
        return (port.is_empty() || port.starts_with(':')).then_some(address.into());
    }
    let (address, _port) = text.split_once(':')?;
    Some(address.parse::<Ipv4Addr>().ok()?.into())
}

/// The value of `for` in an element of `Forwarded`.
fn node(element: &str) -> Option<&str> {
    let mut nodes = element.split(';').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then_some(value.trim())
    });
    let (Some(node), None) = (nodes.next(), nodes.next()) else { return None };
    Some(node.strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"')).unwrap_or(node))
}

/// Whether each quoted value is one that commas and semicolons do not cut, so that every reader cuts alike.
fn is_plain(line: &[u8]) -> bool {
    let value = |pair: &[u8]| match pair.iter().position(|byte| *byte == b'"') {
        None => true,
        Some(start) => {
            let (before, quoted) = pair.split_at(start);
            let inner = quoted.trim_ascii_end().strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
            before.ends_with(b"=")
                && inner.is_some_and(|inner| !inner.contains(&b'"') && !inner.contains(&b'\\'))
        }
    };
    line.split(|byte| matches!(byte, b',' | b';')).all(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(list: ForwardedList, name: &'static str, lines: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(name, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        list.hops(&headers).map(|hop| hop.map_or("?".into(), |hop| hop.to_string())).collect()
    }

    fn x_forwarded_for(lines: &[&str]) -> Vec<String> {
        hops(ForwardedList::XForwardedFor, "x-forwarded-for", lines)
    }

    fn forwarded(lines: &[&str]) -> Vec<String> {
        hops(ForwardedList::Forwarded, "forwarded", lines)
    }

    // P9: only the first line was read.
    #[test]
    fn all_lines_are_one_list_read_from_the_right() {
        assert_eq!(x_forwarded_for(&["1.1.1.1, 2.2.2.2", "3.3.3.3"]), ["3.3.3.3", "2.2.2.2", "1.1.1.1"]);
        assert_eq!(x_forwarded_for(&[" ,1.1.1.1,, ", "", ","]), ["1.1.1.1"]);
    }

    #[test]
    fn ports_and_brackets_are_no_part_of_an_address() {
        let line = "1.1.1.1:80, [2001:db8::1]:443, [2001:db8::2], 2001:db8::3";

        assert_eq!(x_forwarded_for(&[line]), ["2001:db8::3", "2001:db8::2", "2001:db8::1", "1.1.1.1"]);
    }

    #[test]
    fn what_is_no_address_is_a_hop_that_cannot_be_read() {
        for text in
            ["unknown", "_hidden", "1.1.1", "1.1.1.1.1", "[1.1.1.1]", "[::1", "[::1]x", "fe80::1%eth0", "é"]
        {
            assert_eq!(x_forwarded_for(&[&format!("{text}, 2.2.2.2")]), ["2.2.2.2", "?"], "{text}");
        }
    }

    #[test]
    fn the_standard_list_is_read_as_the_other() {
        let line = "for=1.1.1.1;proto=http, For=\"[2001:db8::1]:_port\" ;by=3.3.3.3,host=a;for = 2.2.2.2:80";

        assert_eq!(forwarded(&[line]), ["2.2.2.2", "2001:db8::1", "1.1.1.1"]);
        assert_eq!(forwarded(&["for=unknown", "by=1.1.1.1", "for=1.1.1.1;for=2.2.2.2"]), ["?", "?", "?"]);
    }

    #[test]
    fn a_line_that_can_be_cut_in_two_ways_is_not_believed() {
        for line in [
            "for=1.1.1.1;host=\"a, for=6.6.6.6;x=\"",
            "for=9.9.9.9;x=\", for=1.1.1.1;host=\", for=6.6.6.6;y=\"\"",
            "for=1.1.1.1;host=\"a\\\", for=6.6.6.6;y=\\\"b\"",
            "for=\"6.6.6.6\\",
        ] {
            assert_eq!(forwarded(&["for=2.2.2.2", line]), ["?", "2.2.2.2"], "{line}");
        }
    }
}
