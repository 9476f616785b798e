//! The token that a call is made under.

use std::str::FromStr;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, request::Parts},
};
use forebay::{Token, cache};

use crate::error::{Kind, Problem};

pub(crate) const FOREBAY_LEASE: HeaderName = HeaderName::from_static("forebay-lease");

const FOREBAY_TOKEN: HeaderName = HeaderName::from_static("forebay-token");

/// The token in the header `Forebay-Lease`, which must be there once.
#[derive(Debug)]
pub(crate) struct HeldLease(pub(crate) cache::Token);

/// The token in the header `Forebay-Token`, which must be there once.
#[derive(Debug)]
pub(crate) struct HeldToken(pub(crate) Token);

/// A header that carries a token.
struct Carrier {
    header: HeaderName,
    spelled: &'static str,
    /// What it carries.
    token: &'static str,
}

const LEASE: Carrier =
    Carrier { header: FOREBAY_LEASE, spelled: "Forebay-Lease", token: "the token of the lease" };

const TOKEN: Carrier = Carrier {
    header: FOREBAY_TOKEN,
    spelled: "Forebay-Token",
    token: "the token that the POST has handed out",
};

impl Carrier {
    fn read<T: FromStr>(&self, headers: &HeaderMap) -> Result<T, Problem> {
        let mut values = headers.get_all(&self.header).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => {
                let token = value.to_str().ok().and_then(|text| text.parse().ok());
                token.ok_or_else(|| {
                    self.refuse("holds no token, which has 32 hexadecimal digits in lower case; carry it as it was handed out")
                })
            }
            (Some(_), Some(_)) => Err(self.refuse("is given more than once")),
            (None, _) => Err(self.refuse(&format!("is missing; it carries {}", self.token))),
        }
    }

    fn refuse(&self, why: &str) -> Problem {
        Problem::new(Kind::InvalidHeader, format!("the header `{}` {why}", self.spelled))
    }
}

/// Refuses a `Forebay-Token` where none is taken: whoever sends one believes that the call is made under it.
pub(crate) fn without_token(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.contains_key(&FOREBAY_TOKEN) {
        true => Err(TOKEN.refuse("is not taken by a POST; a token of your own goes into the body")),
        false => Ok(()),
    }
}

impl<S: Sync> FromRequestParts<S> for HeldLease {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        LEASE.read(&parts.headers).map(Self)
    }
}

impl<S: Sync> FromRequestParts<S> for HeldToken {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        TOKEN.read(&parts.headers).map(Self)
    }
}
