//! Which address a request counts as.

use std::{collections::HashSet, net::Ipv6Addr};

use axum::{Router, routing::get};
use forebay::http::{Addresses, Caller, CallerLayer, ForwardedList};
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;

use crate::stage::{request, send, telling, text, told};

const SECRET: &str = "only the network knows this";

/// Headers that one proxy or another writes the client's address into.
const CLAIMS: [&str; 8] = [
    "x-forwarded-for",
    "x_forwarded_for",
    "x-real-ip",
    "cdn-real-ip",
    "cf-connecting-ip",
    "true-client-ip",
    "fastly-client-ip",
    "forwarded",
];

fn rules() -> Addresses {
    Addresses::new().trusted(["10.0.0.0/8", "fd00::/8"]).unwrap().cdn_secret(SECRET).unwrap()
}

fn router() -> Router {
    telling(CallerLayer::new(rules()))
}

// P1, P2: a new address in a header of each request was a new quota for each request.
#[tokio::test]
async fn what_an_untrusted_peer_claims_of_itself_changes_nothing() {
    let router = router();
    for name in CLAIMS {
        for (claim, forwarded) in [("192.0.2.1", "for=192.0.2.1"), ("192.0.2.2", "for=192.0.2.2")] {
            let claim = if name == "forwarded" { forwarded } else { claim };
            let headers = [(name, claim), ("x-from-cdn", "only the network knows that")];
            assert_eq!(told(&router, "198.51.100.4", &headers).await, "address:198.51.100.4 free", "{name}");
        }
    }
}

#[tokio::test]
async fn the_right_secret_makes_the_configured_header_count_and_no_other() {
    let router = router();
    let headers = [("x-from-cdn", SECRET), ("cdn-real-ip", "192.0.2.1"), ("x-forwarded-for", "192.0.2.2")];
    assert_eq!(told(&router, "198.51.100.4", &headers).await, "address:192.0.2.1 free");

    for claim in ["garbage", "", "192.0.2.9, garbage"] {
        let headers = [("x-from-cdn", SECRET), ("cdn-real-ip", claim), ("x-real-ip", "192.0.2.2")];
        assert_eq!(told(&router, "198.51.100.4", &headers).await, "address:198.51.100.4 free", "{claim}");
    }
}

#[tokio::test]
async fn what_the_network_appends_goes_before_what_the_client_sent() {
    let cdn = ("x-from-cdn", SECRET);
    let headers = [("cdn-real-ip", "6.6.6.6"), cdn, ("cdn-real-ip", "192.0.2.1"), ("x-from-cdn", "a guess")];
    assert_eq!(told(&router(), "198.51.100.4", &headers).await, "address:192.0.2.1 free");
    assert_eq!(
        told(&router(), "198.51.100.4", &[cdn, ("cdn-real-ip", "6.6.6.6, 192.0.2.1")]).await,
        "address:192.0.2.1 free"
    );
}

#[tokio::test]
async fn secret_and_headers_have_the_names_that_are_set() {
    let rules = Addresses::new().cdn_secret("an earlier secret").unwrap().cdn_secret(SECRET).unwrap();
    let rules = rules
        .cdn_secret_header(HeaderName::from_static("x-edge"))
        .cdn_address_header(HeaderName::from_static("x-client"));
    let router = telling(CallerLayer::new(rules));

    for secret in [SECRET, "an earlier secret"] {
        let headers = [("x-edge", secret), ("x-client", "192.0.2.1"), ("cdn-real-ip", "192.0.2.2")];
        assert_eq!(told(&router, "198.51.100.4", &headers).await, "address:192.0.2.1 free");
    }
    assert!(Addresses::new().cdn_secret("").is_err());
}

// P3: the rightmost hop was the inner proxy, and so everybody was.
#[tokio::test]
async fn two_clients_behind_one_trusted_proxy_are_two() {
    let router = router();
    for client in ["192.0.2.1", "192.0.2.2"] {
        let list = format!("6.6.6.6, {client}, fd00::7, 10.1.1.1");
        let told = told(&router, "10.0.0.7", &[("x-forwarded-for", &list)]).await;
        assert_eq!(told, format!("address:{client} free"));
    }
}

#[tokio::test]
async fn the_walk_ends_at_the_last_hop_that_can_be_believed() {
    let router = router();
    for (list, client) in [
        ("192.0.2.1, garbage, 10.1.1.1", "10.1.1.1"),
        ("192.0.2.1, unknown", "10.0.0.7"),
        ("10.2.2.2, 10.1.1.1", "10.2.2.2"),
        ("192.0.2.1, \u{fffd}, 192.0.2.2:443", "192.0.2.2"),
    ] {
        let told = told(&router, "10.0.0.7", &[("x-forwarded-for", list)]).await;
        assert_eq!(told, format!("address:{client} free"), "{list}");
    }
}

#[tokio::test]
async fn the_standard_list_is_read_where_it_is_set_and_the_other_is_not() {
    let router = telling(CallerLayer::new(rules().forwarded_list(ForwardedList::Forwarded)));
    let headers = [("x-forwarded-for", "6.6.6.6"), ("forwarded", "for=9.9.9.9, for=\"[2001:db8::1]:443\"")];

    assert_eq!(told(&router, "10.0.0.7", &headers).await, "address:2001:db8::/64 free");
    assert_eq!(told(&router, "10.0.0.7", &headers[..1]).await, "address:10.0.0.7 free");
}

// P5: all of them were in one bucket (GHSA-46wh-pxpv-q5gq). P6: so were all behind one NAT64.
#[tokio::test]
async fn an_ipv4_address_in_ipv6_is_the_ipv4_address_wherever_it_stands() {
    let router = router();
    for (peer, list, client) in [
        ("::ffff:1.2.3.4", "", "1.2.3.4"),
        ("::ffff:5.6.7.8", "", "5.6.7.8"),
        ("::ffff:10.0.0.7", "::ffff:1.2.3.4", "1.2.3.4"),
        ("10.0.0.7", "1.2.3.4, ::ffff:10.1.1.1", "1.2.3.4"),
        ("64:ff9b::1.2.3.4", "", "1.2.3.4"),
        ("10.0.0.7", "64:ff9b::5.6.7.8", "5.6.7.8"),
    ] {
        let told = told(&router, peer, &[("x-forwarded-for", list)]).await;
        assert_eq!(told, format!("address:{client} free"), "{peer}");
    }
}

#[tokio::test]
async fn a_translated_address_is_no_trusted_proxy() {
    let told = told(&router(), "64:ff9b::10.0.0.7", &[("x-forwarded-for", "192.0.2.1")]).await;
    assert_eq!(told, "address:10.0.0.7 free");
}

#[test]
fn networks_are_named_as_networks_or_addresses() {
    let headers = HeaderMap::from_iter([(
        HeaderName::from_static("x-forwarded-for"),
        HeaderValue::from_static("192.0.2.1"),
    )]);
    for (trusted, peer) in [
        ("10.0.0.7", "10.0.0.7"),
        ("::ffff:10.0.0.0/104", "10.9.9.9"),
        ("::1", "::1"),
        ("0.0.0.0/0", "8.8.8.8"),
    ] {
        let rules = Addresses::new().trusted([trusted]).unwrap();
        assert_eq!(rules.client(peer.parse().ok(), &headers), "192.0.2.1".parse().ok(), "{trusted}");
    }
    let error = Addresses::new().trusted(["10.0.0.0/33"]).unwrap_err();
    assert_eq!(error.to_string(), "`10.0.0.0/33` is no network such as 10.0.0.0/8, and no address");
    let error = Addresses::new().trusted(["::ffff:10.0.0.0/8"]).unwrap_err().to_string();
    assert!(error.contains("wider than all of IPv4"), "{error}");
}

#[tokio::test]
async fn the_addresses_of_one_network_are_one() {
    let router = router();
    let mut subjects = HashSet::new();
    for low in 0..=u16::MAX {
        let peer = Ipv6Addr::new(0x2001, 0xdb8, 1, 2, low.rotate_left(7), 0, 0, low);
        subjects.insert(told(&router, &peer.to_string(), &[]).await);
    }
    assert_eq!(subjects, HashSet::from(["address:2001:db8:1:2::/64 free".to_owned()]));
}

// P8: somebody with a /48 has 65,536 such networks.
#[tokio::test]
async fn a_route_can_count_wider_networks() {
    let tell = async |caller: Caller| format!("{} {}", caller.address(), caller.network(48));
    let layer = CallerLayer::new(rules().ipv6_prefix(56));
    let router = Router::new().route("/", get(tell)).layer(layer);
    let mut subjects = HashSet::new();
    for network in 0..0x400 {
        let peer = Ipv6Addr::new(0x2001, 0xdb8, 1, network, 0, 0, 0, 1).to_string();
        subjects.insert(text(send(&router, request(&peer, &[])).await).await);
    }
    assert_eq!(subjects.len(), 4);
    assert!(subjects.iter().all(|told| told.ends_with("::/56 address:2001:db8:1::/48")), "{subjects:?}");
}

// P9: without such information every request was answered with 500.
#[tokio::test]
async fn callers_without_an_address_share_one_subject() {
    let router = router();
    assert_eq!(told(&router, "", &[("x-forwarded-for", "192.0.2.1")]).await, "address:unknown free");
    let headers = [("x-from-cdn", SECRET), ("cdn-real-ip", "192.0.2.1")];
    assert_eq!(told(&router, "", &headers).await, "address:192.0.2.1 free");
}

/// Header lines of any bytes, and such as are nearly right.
fn headers() -> impl Strategy<Value = HeaderMap> {
    let name =
        prop::sample::select([&CLAIMS[..], &["x-from-cdn"]].concat()).prop_map(HeaderName::from_static);
    let piece = prop_oneof![
        prop::sample::select(vec![
            "for=", "\"", "[", "]", ":", ",", ";", "10.0.0.1", "::1", "6.6.6.6", SECRET
        ]),
        "[ -~]{0,4}".prop_map(|text| &*text.leak()),
    ];
    let near = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    let bytes = prop_oneof![near, prop::collection::vec(any::<u8>(), 0..40)];
    let value = bytes.prop_filter_map("no header can have it", |bytes| HeaderValue::from_bytes(&bytes).ok());
    prop::collection::vec((name, value), 0..8).prop_map(|lines| {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name, value);
        }
        headers
    })
}

proptest! {
    #[test]
    fn whatever_an_untrusted_peer_sends_the_address_is_its_own(headers in headers(), peer: Ipv6Addr) {
        let peer = peer.to_canonical();
        let trusting = Addresses::new().trusted(["10.0.0.0/8", "fd00::/8"]).unwrap();
        prop_assume!(!peer.to_string().starts_with("10.") && !peer.to_string().starts_with("fd"));

        prop_assert_eq!(Addresses::new().client(Some(peer), &headers), Some(peer));
        prop_assert_eq!(trusting.client(Some(peer), &headers), Some(peer));
        let standard = trusting.forwarded_list(ForwardedList::Forwarded);
        prop_assert_eq!(standard.client(Some(peer), &headers), Some(peer));
    }

    #[test]
    fn whatever_comes_through_a_trusted_proxy_an_address_is_found(headers in headers(), standard: bool) {
        let list = if standard { ForwardedList::Forwarded } else { ForwardedList::XForwardedFor };
        let found = rules().forwarded_list(list).client("10.0.0.7".parse().ok(), &headers);
        prop_assert!(found.is_some());
    }
}
