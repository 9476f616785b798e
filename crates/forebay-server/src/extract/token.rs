//! The lease that a call is made under.

use axum::{
    extract::FromRequestParts,
    http::{HeaderName, request::Parts},
};
use forebay::cache::Token;

use crate::error::{Kind, Problem};

pub(crate) const FOREBAY_LEASE: HeaderName = HeaderName::from_static("forebay-lease");

/// The token in the header `Forebay-Lease`, which must be there once.
pub(crate) struct HeldToken(pub(crate) Token);

impl<S: Sync> FromRequestParts<S> for HeldToken {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let refuse =
            |why: &str| Problem::new(Kind::InvalidHeader, format!("the header `Forebay-Lease` {why}"));
        let mut values = parts.headers.get_all(FOREBAY_LEASE).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => {
                let token = value.to_str().ok().and_then(|text| text.parse().ok());
                token.map(Self).ok_or_else(|| refuse("holds no token of a lease"))
            }
            (Some(_), Some(_)) => Err(refuse("is given more than once")),
            (None, _) => Err(refuse("is missing; it carries the token of the lease")),
        }
    }
}
