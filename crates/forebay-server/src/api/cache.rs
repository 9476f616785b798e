//! `/v1/cache/{space}/{id}`: reads, puts and invalidates.

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::cache::{Invalidated, Put, Read};

use super::{
    answer::{self, Outcome},
    written::Written,
};
use crate::{
    error::{Kind, Problem},
    extract::{self, KnownTarget, Query, Target},
    spaces::Space,
};

/// Answers the value, a stale one too. It never takes a lease.
pub(crate) async fn read(
    KnownTarget { space, id }: KnownTarget,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    if answer::bypasses(&headers) {
        let problem = Problem::new(Kind::CacheMiss, "the request asks to pass by the cache");
        return Ok(answer::forward(Outcome::Bypass, "bypass", problem));
    }
    Ok(answer::unless_known(look(space.as_ref(), &id).await, &headers))
}

/// Answers what the cache has.
pub(super) async fn look(space: Option<&Space>, id: &str) -> Response {
    let read = match space {
        Some(space) => space.cache.read(id).await,
        None => Read::Miss,
    };
    match read {
        Read::Hit(entry) => answer::found(&entry),
        Read::Absent => answer::absent(),
        Read::Miss => {
            let problem = Problem::new(Kind::CacheMiss, "POST to …/lease answers the lease to load it");
            answer::forward(Outcome::Miss, "miss", problem)
        }
    }
}

/// Stores a value, or with `absent=1` that there is none, whoever loads it at the moment.
pub(crate) async fn store(
    Target { space, id }: Target,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    put(&space, &id, Written::read(&uri, &headers, body, &space).await?).await
}

/// Stores what is written.
pub(super) async fn put(space: &Space, id: &str, written: Written) -> Result<Response, Problem> {
    let put = match written {
        Written::Value(loaded) => space.cache.put(id, loaded).await?,
        Written::Absence(life) => space.cache.put_absent_for(id, life).await?,
        Written::NotModified(_) => {
            let detail = "`not_modified` is for the holder of a lease, who fills it";
            return Err(Problem::new(Kind::InvalidBody, detail));
        }
    };
    Ok(match put {
        Put::Stored => answer::stored(),
        Put::Deferred => StatusCode::ACCEPTED.into_response(),
    })
}

/// Invalidates, as after a commit to the database.
pub(crate) async fn invalidate(
    KnownTarget { space, id }: KnownTarget,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    Ok(forget(space.as_ref(), &id).await)
}

/// Invalidates what there is.
pub(super) async fn forget(space: Option<&Space>, id: &str) -> StatusCode {
    let Some(space) = space else { return StatusCode::NO_CONTENT };
    match space.cache.invalidate(id).await {
        Invalidated::Everywhere => StatusCode::NO_CONTENT,
        Invalidated::Deferred => StatusCode::ACCEPTED,
    }
}
