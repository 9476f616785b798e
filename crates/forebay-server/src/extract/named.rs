//! The name that a call is about, where any text is one.

use axum::{extract::FromRequestParts, http::request::Parts};

use super::Segments;
use crate::error::Problem;

/// What `/v1/{kind}/{name}` names, or `/ops/{kind}/{name}`.
#[derive(Debug)]
pub(crate) struct Named(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Segments::find(parts, 2).map(|name| Self(name.to_owned()))
    }
}
