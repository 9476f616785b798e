//! `/v1/invalidate/{space}` and `/v1/clear/{space}`: many values at once, by their ids, by their tags, by a
//! pattern of ids, or all.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::cache::{Invalidated, Matched};
use futures::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::ToSchema;

use super::answer;
use crate::{
    app::Shared,
    error::{Kind, Problem},
    extract::{self, KnownSpace, Query},
    spaces::Space,
};

/// The parameter that names a pattern.
pub(crate) const MATCHING: &str = "matching";

/// When to ask again where another one is under way.
const SOON: Duration = Duration::from_secs(1);

/// How many ids and tags one request may name, together.
pub(crate) const MOST: usize = 1_000;

/// How many are invalidated at a time: more would hold up other requests.
const AT_A_TIME: usize = 64;

/// What is to be invalidated.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = Invalidation, example = json!({ "ids": ["greeting"], "tags": ["summer-sale"] }))]
struct Named {
    #[schema(max_items = 1000)]
    ids: Vec<String>,
    #[schema(max_items = 1000)]
    tags: Vec<String>,
}

/// Invalidates by ids and by tags, as after a commit to the database.
#[utoipa::path(
    post, path = "/v1/invalidate/{space}", tag = "invalidation",
    params(
        ("matching" = Option<String>, Query, nullable = false, description = "A pattern of ids (`*`, `?`, `[a-z]`, `[^a]`, `\\\\` before what stands for itself), without a body; for the scope `ops` alone", min_length = 1),
    ),
    request_body(content = Named, description = "1 to 1,000 ids and tags, together"),
    responses(
        (status = 200, description = "What a pattern has taken", body = Swept),
        (status = 202, description = "Redis has not confirmed all of it, or not all was looked at, or it goes on", body = Option<Swept>),
        (status = 204, description = "All is forgotten everywhere"),
    ),
    extensions(("x-problems" = json!([Kind::Running]))),
)]
pub(crate) async fn named(
    State(app): State<Shared>,
    KnownSpace(space): KnownSpace,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    let query = Query::read(&uri, &[MATCHING])?;
    if let Some(pattern) = query.text(MATCHING) {
        let Nothing {} = extract::json(body).await?;
        return matching(space, pattern, app.request_deadline / 2).await;
    }
    let Named { ids, tags } = extract::many(body).await?;
    let count = ids.len() + tags.len();
    if !(1..=MOST).contains(&count) {
        let detail = format!("in the body: `ids` and `tags` have {count} together; name 1 to {MOST}");
        return Err(Problem::new(Kind::InvalidBody, detail));
    }
    let Some(space) = space else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let cache = &space.cache;
    let by_id = stream::iter(ids).map(|id| async move { cache.invalidate(id).await });
    let ids = by_id.buffer_unordered(AT_A_TIME).fold(Invalidated::Everywhere, worse).await;
    let by_tag = stream::iter(tags).map(|tag| async move { cache.invalidate_tag(tag).await });
    Ok(told(by_tag.buffer_unordered(AT_A_TIME).fold(ids, worse).await).into_response())
}

/// What an invalidation by pattern has done.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Swept {
    Done {
        invalidated: usize,
        deferred: usize,
        complete: bool,
    },
    /// It is not over: the log will say what it has done.
    Running {
        running: bool,
    },
}

/// Invalidates what a pattern takes. It goes on after `wait`, for which its end is waited for.
async fn matching(space: Option<Space>, pattern: &str, wait: Duration) -> Result<Response, Problem> {
    let nothing = Matched::Done { invalidated: 0, deferred: 0, complete: true };
    let matched = match space {
        None => nothing,
        Some(space) => match timeout(wait, space.cache.invalidate_matching(pattern)).await {
            Ok(matched) => matched?,
            Err(_) => return Ok(accepted(&Swept::Running { running: true })),
        },
    };
    match matched {
        Matched::Done { invalidated, deferred, complete } => {
            let sweep = Swept::Done { invalidated, deferred, complete };
            Ok(if complete && deferred == 0 { answer::json(&sweep) } else { accepted(&sweep) })
        }
        Matched::Busy => {
            let detail = "another invalidation by pattern of this space is under way in this server";
            Err(Problem::new(Kind::Running, detail).retry_after(SOON))
        }
    }
}

fn accepted(members: &impl Serialize) -> Response {
    (StatusCode::ACCEPTED, answer::json(members)).into_response()
}

/// Invalidates all of a space.
#[utoipa::path(
    post, path = "/v1/clear/{space}", tag = "invalidation",
    request_body(content = Nothing),
    responses(
        (status = 204, description = "All is forgotten everywhere"),
        (status = 202, description = "Redis has not confirmed it: it is tried until it has"),
    ),
)]
pub(crate) async fn all(KnownSpace(space): KnownSpace, uri: Uri, body: Body) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    let Nothing {} = extract::json(body).await?;
    let Some(space) = space else { return Ok(StatusCode::NO_CONTENT) };
    Ok(told(space.cache.clear().await))
}

/// A body in which nothing is asked for.
#[derive(Debug, Default, Deserialize, ToSchema)]
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
