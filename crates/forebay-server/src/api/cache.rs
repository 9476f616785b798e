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
    extract::{Query, Target},
};

/// Answers the value, a stale one too. It never takes a lease.
pub(crate) async fn read(target: Target, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    if answer::bypasses(&headers) {
        let problem = Problem::new(Kind::CacheMiss, "the request asks to pass by the cache");
        return Ok(answer::forward(Outcome::Bypass, "bypass", problem));
    }
    Ok(match target.space.cache.read(&target.id).await {
        Read::Hit(entry) => answer::unless_known(answer::found(&entry), &headers),
        Read::Absent => answer::absent(),
        Read::Miss => {
            let problem = Problem::new(Kind::CacheMiss, "POST to …/lease answers the lease to load it");
            answer::forward(Outcome::Miss, "miss", problem)
        }
    })
}

/// Stores a value, or with `absent=1` that there is none, whoever loads it at the moment.
pub(crate) async fn store(
    Target { space, id }: Target,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let put = match Written::read(&uri, &headers, body, &space).await? {
        Written::Value(loaded) => space.cache.put(&id, loaded).await?,
        Written::Absence(life) => space.cache.put_absent_for(&id, life).await?,
    };
    Ok(match put {
        Put::Stored => answer::stored(),
        Put::Deferred => StatusCode::ACCEPTED.into_response(),
    })
}

/// Invalidates, as after a commit to the database.
pub(crate) async fn invalidate(target: Target, uri: Uri) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    Ok(match target.space.cache.invalidate(&target.id).await {
        Invalidated::Everywhere => StatusCode::NO_CONTENT,
        Invalidated::Deferred => StatusCode::ACCEPTED,
    })
}
