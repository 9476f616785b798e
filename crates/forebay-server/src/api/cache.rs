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
#[utoipa::path(
    get, path = "/v1/cache/{space}/{id}", tag = "cache",
    params(
        ("If-None-Match" = Option<String>, Header, nullable = false, description = "Entity tags that the client has"),
        ("Cache-Control" = Option<String>, Header, nullable = false, description = "`no-cache` passes by the cache"),
    ),
    responses(
        (status = 200, description = "The value, in its media type", content(("*/*")), headers(("Age"), ("ETag"), ("Forebay-Cache"), ("Cache-Status"), ("X-Content-Type-Options"))),
        (status = 304, description = "The client has this value", headers(("Age"), ("ETag"), ("Forebay-Cache"), ("Cache-Status"), ("X-Content-Type-Options"))),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::CacheMiss, Kind::CachedAbsence]))),
)]
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
#[utoipa::path(
    put, path = "/v1/cache/{space}/{id}", tag = "cache",
    params(
        ("ttl_ms" = Option<u64>, Query, nullable = false, description = "How long it is fresh; as the space is configured if left out", minimum = 1, example = 60000),
        ("stale_ms" = Option<u64>, Query, nullable = false, description = "How long it is kept beyond that, to be handed out while it is loaded again"),
        ("absent" = Option<u64>, Query, nullable = false, description = "1: there is no value; without a body", minimum = 1, maximum = 1),
        ("tag" = Option<Vec<String>>, Query, nullable = false, description = "A tag of the value; may repeat", max_items = 128),
    ),
    request_body(
        description = "The bytes as they are to be kept, of any media type; that is kept too",
        content((Vec<u8> = "application/octet-stream"), (String = "text/plain"))
    ),
    responses(
        (status = 204, description = "It is in the cache", headers(("Cache-Status"))),
        (status = 202, description = "Redis has not confirmed it: nothing is stored"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::NoTimeToLive, Kind::UnsupportedContentEncoding, Kind::RedisUnavailable]))),
)]
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
#[utoipa::path(
    delete, path = "/v1/cache/{space}/{id}", tag = "cache",
    responses(
        (status = 204, description = "It is forgotten everywhere"),
        (status = 202, description = "Redis has not confirmed it: it is tried until it has"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader]))),
)]
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
