//! `/v1/cache/{space}/{id}/lease`: one load per miss, for clients in any language.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use forebay::cache::{Filled, Lease, Loaded, Lookup, Returned, Token};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    answer::{self, Outcome, millis},
    asked::{Asked, AskedAgain},
    written::Written,
};
use crate::{
    app::Shared,
    content::Content,
    error::{Kind, Problem},
    extract::{self, FOREBAY_LEASE, HeldLease, KnownTarget, Query, Target},
    spaces::Space,
};

/// When to try a renewal again that Redis did not answer: soon, since the lease runs out meanwhile.
const RENEW_AGAIN: Duration = Duration::from_secs(1);

pub(super) const FOREBAY_LEASE_MS: HeaderName = HeaderName::from_static("forebay-lease-ms");

/// The right to load a value.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lease)]
struct Granted {
    lease: String,
    lease_ms: u64,
    /// False where only this server knows of it, as Redis cannot be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    shared: Option<bool>,
}

/// How long a lease lasts from now on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LeaseRenewed)]
struct Renewed {
    lease_ms: u64,
}

/// Answers the value, or grants the lease to load it, or waits for whoever has it.
#[utoipa::path(
    post, path = "/v1/cache/{space}/{id}/lease", tag = "leases",
    request_body(content = Asked),
    responses(
        (
            status = 200, description = "The value; with `Forebay-Lease`, one that is stale or soon will be, and the lease to replace it",
            content(("*/*")),
            headers(
                ("Age"), ("ETag"), ("Forebay-Cache"), ("Cache-Status"), ("X-Content-Type-Options"),
                ("Forebay-Lease"), ("Forebay-Lease-Ms")
            )
        ),
        (status = 201, description = "The lease: load the value, and fill it in", body = Granted, headers(("Forebay-Cache"), ("Cache-Status"))),
    ),
    extensions(("x-problems" = json!([Kind::CachedAbsence, Kind::Busy, Kind::LoadFailed]))),
)]
pub(crate) async fn take(
    State(app): State<Shared>,
    Target { space, id }: Target,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let asked: Asked = extract::json(body).await?;
    look_up(&app, &space, &id, asked).await
}

/// Answers what there is by the time that the client waits.
pub(super) async fn look_up(
    app: &Shared,
    space: &Space,
    id: &str,
    asked: Asked,
) -> Result<Response, Problem> {
    let lookup = space.cache.lookup(id, asked.wait(space)?).lease(asked.life(space)?);
    let found = tokio::select! {
        biased;
        found = lookup.into_future() => found,
        () = app.draining.cancelled() => Lookup::Busy { retry_after: Duration::ZERO },
    };
    Ok(match found {
        Lookup::Hit(entry) => answer::found(&entry),
        Lookup::Absent => answer::absent(),
        Lookup::Lease(lease) => granted(lease),
        Lookup::Busy { retry_after } => {
            let problem = Problem::new(Kind::Busy, "the wait is over and the load is not; ask again");
            answer::forward(Outcome::Busy, "miss", problem.retry_after(retry_after))
        }
        Lookup::Failed { retry_after } => {
            let problem = Problem::new(Kind::LoadFailed, "the origin is left alone for a moment");
            answer::forward(Outcome::Miss, "miss", problem.retry_after(retry_after))
        }
    })
}

/// Hands the lease over. If the client goes away before this, the lease is given back; after it, the lease
/// lasts for its life.
fn granted(lease: Lease<Content>) -> Response {
    let lease_ms = millis(lease.life());
    if let Some(entry) = lease.stale() {
        let mut response = answer::found_to_replace(entry);
        let token = HeaderValue::try_from(lease.into_token().to_string());
        let mut token = token.expect("a token is visible ASCII");
        token.set_sensitive(true);
        response.headers_mut().insert(FOREBAY_LEASE, token);
        response.headers_mut().insert(FOREBAY_LEASE_MS, lease_ms.into());
        return response;
    }
    let shared = (!lease.shared()).then_some(false);
    let granted = Granted { lease: lease.into_token().to_string(), lease_ms, shared };
    answer::forward(Outcome::Miss, "miss", (StatusCode::CREATED, answer::json(&granted)))
}

/// Stores what the holder loaded, or with `absent=1` that there is nothing, or with `not_modified=1` that the stale value
/// is fresh again.
#[utoipa::path(
    put, path = "/v1/cache/{space}/{id}/lease", tag = "leases",
    params(
        ("Forebay-Lease" = String, Header, description = "The token of the lease", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
        ("ttl_ms" = Option<u64>, Query, nullable = false, description = "How long it is fresh; as the space is configured if left out", minimum = 1, example = 60000),
        ("stale_ms" = Option<u64>, Query, nullable = false, description = "How long it is kept beyond that, to be handed out while it is loaded again"),
        ("absent" = Option<u64>, Query, nullable = false, description = "1: there is no value; without a body", minimum = 1, maximum = 1),
        ("tag" = Option<Vec<String>>, Query, nullable = false, description = "A tag of the value; may repeat", max_items = 128),
        ("not_modified" = Option<u64>, Query, nullable = false, description = "1: the stale value is fresh again; without a body", minimum = 1, maximum = 1),
    ),
    request_body(
        description = "The bytes as they are to be kept, of any media type; that is kept too",
        content((Vec<u8> = "application/octet-stream"), (String = "text/plain"))
    ),
    responses(
        (status = 204, description = "It is in the cache", headers(("Cache-Status"))),
        (status = 202, description = "Redis did not answer: it is in the memory of this server only"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::NoTimeToLive, Kind::UnsupportedContentEncoding, Kind::LeaseLost, Kind::NoStaleValue, Kind::RedisUnavailable]))),
)]
pub(crate) async fn fill(
    Target { space, id }: Target,
    HeldLease(token): HeldLease,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let written = Written::read_fill(&uri, &headers, body, &space).await;
    fill_in(&space, &id, token, written).await
}

/// Stores what the holder has written, or tells the others that it is too large.
pub(super) async fn fill_in(
    space: &Space,
    id: &str,
    token: Token,
    written: Result<Written, Problem>,
) -> Result<Response, Problem> {
    let lease = space.cache.resume(id, token);
    let filled = match written {
        Ok(Written::Value(loaded)) => lease.fill(loaded).await?,
        Ok(Written::Absence(life)) => lease.absent_for(life).await?,
        Ok(Written::NotModified(lives)) => {
            let stale = lease.not_modified().await.ok_or_else(nothing_to_keep)?;
            lease.fill(lives.of(stale)).await?
        }
        Err(problem) if problem.kind() == Kind::TooLarge => {
            leave_unshared(lease).await;
            return Err(problem);
        }
        Err(problem) => return Err(problem),
    };
    match filled {
        Filled::Stored => Ok(answer::stored()),
        Filled::Unshared => Ok(StatusCode::NO_CONTENT.into_response()),
        Filled::Deferred => Ok(StatusCode::ACCEPTED.into_response()),
        Filled::Lost => Err(lost("nothing is stored")),
    }
}

/// Lets nobody wait for a value that is too large: every client loads for itself.
async fn leave_unshared(lease: Lease<Content>) {
    let nothing = Content { content_type: None, bytes: Bytes::new() };
    if let Err(error) = lease.fill(Loaded::new(nothing).do_not_store()).await {
        tracing::warn!(%error, "those who wait are not told that the value is too large");
    }
}

/// Holds the lease for longer.
#[utoipa::path(
    patch, path = "/v1/cache/{space}/{id}/lease", tag = "leases",
    params(
        ("Forebay-Lease" = String, Header, description = "The token of the lease", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
    ),
    request_body(content = AskedAgain),
    responses(
        (status = 200, description = "It lasts for so long from now on", body = Renewed),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::LeaseLost, Kind::RedisUnavailable]))),
)]
pub(crate) async fn renew(
    KnownTarget { space, id }: KnownTarget,
    HeldLease(token): HeldLease,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let asked: AskedAgain = extract::json(body).await?;
    hold(space.as_ref(), &id, token, asked).await
}

/// Has the lease last as long as the client asks.
pub(super) async fn hold(
    space: Option<&Space>,
    id: &str,
    token: Token,
    asked: AskedAgain,
) -> Result<Response, Problem> {
    let space = space.ok_or_else(unchanged)?;
    let life = asked.life(space)?;
    match space.cache.resume(id, token).renew(life).await {
        Returned::Done => Ok(answer::json(&Renewed { lease_ms: millis(life) })),
        Returned::Lost => Err(unchanged()),
        Returned::Unavailable => {
            let problem =
                Problem::new(Kind::RedisUnavailable, "the lease may still be held, for as long as before");
            Err(problem.retry_after(RENEW_AGAIN))
        }
    }
}

/// Ends the lease without a value; with `failed=1` the origin is then left alone for a moment.
#[utoipa::path(
    delete, path = "/v1/cache/{space}/{id}/lease", tag = "leases",
    params(
        ("Forebay-Lease" = String, Header, description = "The token of the lease", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
        ("failed" = Option<u64>, Query, nullable = false, description = "1: the load failed, and the origin is left alone for a moment", minimum = 1, maximum = 1),
    ),
    responses(
        (status = 204, description = "It has ended"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::LeaseLost]))),
)]
pub(crate) async fn give_back(
    KnownTarget { space, id }: KnownTarget,
    HeldLease(token): HeldLease,
    uri: Uri,
) -> Result<StatusCode, Problem> {
    let failed = Query::read(&uri, &["failed"])?.flag("failed")?;
    end(space.as_ref(), &id, token, failed).await
}

/// Ends the lease, of a load that has `failed` or was not made.
pub(super) async fn end(
    space: Option<&Space>,
    id: &str,
    token: Token,
    failed: bool,
) -> Result<StatusCode, Problem> {
    let lease = space.ok_or_else(unchanged)?.cache.resume(id, token);
    match if failed { lease.fail().await } else { lease.release().await } {
        // Where Redis did not answer, nothing is left for the client to do: the lease ends with its life.
        Returned::Done | Returned::Unavailable => Ok(StatusCode::NO_CONTENT),
        Returned::Lost => Err(unchanged()),
    }
}

fn nothing_to_keep() -> Problem {
    let detail =
        "the stale value is gone, or was invalidated; if the lease is still held, fill it with the value";
    Problem::new(Kind::NoStaleValue, detail)
}

fn unchanged() -> Problem {
    lost("nothing is changed")
}

fn lost(consequence: &str) -> Problem {
    let detail = format!("it ended, or the id was invalidated or put meanwhile; {consequence}");
    Problem::new(Kind::LeaseLost, detail)
}
