//! The id that a call is about, with its space.

use axum::{extract::FromRequestParts, http::request::Parts};

use super::{FOREBAY_LEASE, Segments};
use crate::{
    app::Shared,
    error::{Kind, Problem},
    spaces::Space,
};

/// What `/v1/cache/{space}/{id}` and `…/lease` name.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) space: Space,
    pub(crate) id: String,
}

impl FromRequestParts<Shared> for Target {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let Some(Segments(segments)) = parts.extensions.get() else { return Err(unnamed()) };
        let [_, _, space, id, below @ ..] = segments.as_slice() else { return Err(unnamed()) };
        if below.is_empty() && parts.headers.contains_key(FOREBAY_LEASE) {
            let detail = "a `Forebay-Lease` belongs on a path that ends in `/lease`";
            return Err(Problem::new(Kind::InvalidHeader, detail));
        }
        Ok(Self { space: app.spaces.get(space)?, id: id.clone() })
    }
}

fn unnamed() -> Problem {
    Problem::new(Kind::NotFound, "the path names no space and id")
}
