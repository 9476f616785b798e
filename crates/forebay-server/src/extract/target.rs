//! The id that a call is about, with its space.

use axum::{extract::FromRequestParts, http::request::Parts};

use super::{FOREBAY_LEASE, Segments};
use crate::{
    app::Shared,
    error::{Kind, Problem},
    spaces::Space,
};

/// What `/v1/cache/{space}/{id}` and `…/lease` name, for a call that stores: the space is made if it is new.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) space: Space,
    pub(crate) id: String,
}

/// The same, and what `/ops/cache/{space}/{id}` names, for a call that stores nothing: a space that can hold nothing stays away.
#[derive(Debug)]
pub(crate) struct KnownTarget {
    pub(crate) space: Option<Space>,
    pub(crate) id: String,
}

/// The space that `/v1/{call}/{space}` names, for a call that stores nothing, if it can hold anything.
#[derive(Debug)]
pub(crate) struct KnownSpace(pub(crate) Option<Space>);

/// The name of the space of `/v1/batch/cache/{space}`.
#[derive(Debug)]
pub(crate) struct BatchSpace(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for BatchSpace {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Segments::find(parts, 3).map(|space| Self(space.to_owned()))
    }
}

impl FromRequestParts<Shared> for KnownSpace {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        app.spaces.known(Segments::find(parts, 2)?).map(Self)
    }
}

impl FromRequestParts<Shared> for Target {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let (space, id) = space_and_id(parts)?;
        Ok(Self { space: app.spaces.made(space)?, id: id.to_owned() })
    }
}

impl FromRequestParts<Shared> for KnownTarget {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let (space, id) = space_and_id(parts)?;
        Ok(Self { space: app.spaces.known(space)?, id: id.to_owned() })
    }
}

fn space_and_id(parts: &Parts) -> Result<(&str, &str), Problem> {
    let Some(Segments(segments)) = parts.extensions.get() else { return Err(unnamed()) };
    let [_, _, space, id, below @ ..] = segments.as_slice() else { return Err(unnamed()) };
    if below.is_empty() && parts.headers.contains_key(FOREBAY_LEASE) {
        let detail = "a `Forebay-Lease` belongs on a path that ends in `/lease`";
        return Err(Problem::new(Kind::InvalidHeader, detail));
    }
    Ok((space, id))
}

fn unnamed() -> Problem {
    Problem::new(Kind::NotFound, "the path names no space and id")
}
