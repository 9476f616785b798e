//! `/v1/invalidate/{space}` and `/v1/clear/{space}`: many values at once, by their ids, by their tags, or all.

use axum::{
    body::Body,
    http::{StatusCode, Uri},
};
use forebay::cache::Invalidated;
use futures::stream::{self, StreamExt};
use serde::Deserialize;

use crate::{
    error::{Kind, Problem},
    extract::{self, KnownSpace, Query},
};

/// How many ids and tags one request may name, together.
const MOST: usize = 1_000;

/// How many are invalidated at a time: more would hold up other requests.
const AT_A_TIME: usize = 64;

/// What is to be invalidated.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Named {
    ids: Vec<String>,
    tags: Vec<String>,
}

/// Invalidates by ids and by tags, as after a commit to the database.
pub(crate) async fn named(
    KnownSpace(space): KnownSpace,
    uri: Uri,
    body: Body,
) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    let Named { ids, tags } = extract::many(body).await?;
    let count = ids.len() + tags.len();
    if !(1..=MOST).contains(&count) {
        let detail = format!("in the body: `ids` and `tags` have {count} together; name 1 to {MOST}");
        return Err(Problem::new(Kind::InvalidBody, detail));
    }
    let Some(space) = space else { return Ok(StatusCode::NO_CONTENT) };
    let cache = &space.cache;
    let by_id = stream::iter(ids).map(|id| async move { cache.invalidate(id).await });
    let ids = by_id.buffer_unordered(AT_A_TIME).fold(Invalidated::Everywhere, worse).await;
    let by_tag = stream::iter(tags).map(|tag| async move { cache.invalidate_tag(tag).await });
    Ok(told(by_tag.buffer_unordered(AT_A_TIME).fold(ids, worse).await))
}

/// Invalidates all of a space.
pub(crate) async fn all(KnownSpace(space): KnownSpace, uri: Uri, body: Body) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    let Nothing {} = extract::json(body).await?;
    let Some(space) = space else { return Ok(StatusCode::NO_CONTENT) };
    Ok(told(space.cache.clear().await))
}

/// A body in which nothing is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn worse(one: Invalidated, other: Invalidated) -> Invalidated {
    if one == Invalidated::Everywhere { other } else { one }
}

fn told(invalidated: Invalidated) -> StatusCode {
    match invalidated {
        Invalidated::Everywhere => StatusCode::NO_CONTENT,
        Invalidated::Deferred => StatusCode::ACCEPTED,
    }
}
