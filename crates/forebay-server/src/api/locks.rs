//! `/v1/locks/{name}`: one holder at a time, for clients in any language; `/ops/locks/{name}` takes a lock away.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::lock::{Lock, LockError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    answer::{self, millis},
    given::{GivenToken, done, life, not_the_holder, occupied, refused},
};
use crate::{
    app::{App, Shared},
    error::{Kind, Problem},
    extract::{self, HeldToken, Named, Query},
};

/// For how long a lock keeps others out whose holder does not say.
const LIFE: Duration = Duration::from_secs(30);

/// The lives that a lock can have, as the library bounds them.
const BOUNDS: [Duration; 2] = [Duration::from_millis(100), Duration::from_hours(24)];

/// The body of `POST /v1/locks/{name}`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LockAsked, example = json!({ "ttl_ms": 30000 }))]
struct Asked {
    #[schema(minimum = 100, maximum = 86400000, default = 30000)]
    ttl_ms: Option<u64>,
    /// What is left out is 0: the client is answered at once.
    #[schema(maximum = 31500, default = 0)]
    wait_ms: Option<u64>,
    #[schema(value_type = Option<String>, pattern = "^[0-9a-f]{32}$")]
    token: Option<GivenToken>,
}

/// The body of `PATCH /v1/locks/{name}`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LockRenewal, example = json!({ "ttl_ms": 60000 }))]
struct AskedAgain {
    #[schema(minimum = 100, maximum = 86400000, default = 30000)]
    ttl_ms: Option<u64>,
}

/// A lock that the client holds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lock)]
struct Taken {
    token: String,
    fence: u64,
    ttl_ms: u64,
}

/// How long a lock lasts from now on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LockRenewed)]
struct Renewed {
    ttl_ms: u64,
}

/// What became of a lock that was to be taken away.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Released {
    /// Whether anybody held it.
    pub(crate) released: bool,
}

impl Asked {
    fn lock(&self, app: &App, name: &str) -> Result<Lock, Problem> {
        let lock = app.forebay.lock(name).time_to_live(self.life()?).wait(self.wait(app)?);
        Ok(match self.token {
            Some(GivenToken(token)) => lock.token(token),
            None => lock,
        })
    }

    fn life(&self) -> Result<Duration, Problem> {
        time_to_live(self.ttl_ms)
    }

    /// How long the client waits: less than the request may take, so that it hears how that ends.
    fn wait(&self, app: &App) -> Result<Duration, Problem> {
        let bounds = [Duration::ZERO, app.lock_wait];
        life(self.wait_ms.unwrap_or(0), "wait_ms", bounds, ", which `server.request_deadline` leaves")
    }
}

fn time_to_live(ttl_ms: Option<u64>) -> Result<Duration, Problem> {
    ttl_ms.map_or(Ok(LIFE), |ttl_ms| life(ttl_ms, "ttl_ms", BOUNDS, ""))
}

/// Takes the lock, and waits for it if the client wants to.
#[utoipa::path(
    post, path = "/v1/locks/{name}", tag = "locks",
    request_body(content = Asked),
    responses(
        (status = 201, description = "It is yours", body = Taken),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::Locked, Kind::ShuttingDown, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn take(
    State(app): State<Shared>,
    Named(name): Named,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    extract::without_token(&headers)?;
    let asked: Asked = extract::json(body).await?;
    let lock = asked.lock(&app, &name)?;
    let taken = tokio::select! {
        biased;
        taken = lock.acquire() => taken.map_err(untaken),
        // One more question, since the last one may have been on its way when the waiting ended.
        () = app.draining.cancelled() => lock.clone().wait(Duration::ZERO).acquire().await.map_err(cut_short),
    };
    // If the client goes away before this, the lock is freed; after it, it lasts for its life.
    let guard = taken?;
    let (fence, ttl_ms) = (guard.fence(), millis(asked.life()?));
    let taken = Taken { token: guard.into_token().to_string(), fence, ttl_ms };
    Ok((StatusCode::CREATED, answer::json(&taken)).into_response())
}

fn untaken(error: LockError) -> Problem {
    match error {
        LockError::Busy { retry_after } => {
            occupied(Kind::Locked, "somebody else holds it, and may renew it", retry_after)
        }
        LockError::Unavailable(error) | LockError::Invalid(error) => refused(&error),
        lost => Problem::new(Kind::Internal, lost.to_string()),
    }
}

/// What somebody is told who would have waited for longer.
fn cut_short(error: LockError) -> Problem {
    match error {
        LockError::Busy { .. } => {
            let detail =
                "somebody else holds the lock, and this server waits for nothing any more; ask again";
            Problem::new(Kind::ShuttingDown, detail)
        }
        error => untaken(error),
    }
}

/// Holds the lock for longer.
#[utoipa::path(
    patch, path = "/v1/locks/{name}", tag = "locks",
    params(
        ("Forebay-Token" = String, Header, description = "The token that the POST has handed out", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
    ),
    request_body(content = AskedAgain),
    responses(
        (status = 200, description = "It lasts for so long from now on", body = Renewed),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::NotTheHolder, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn renew(
    State(app): State<Shared>,
    Named(name): Named,
    HeldToken(token): HeldToken,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let asked: AskedAgain = extract::json(body).await?;
    let life = time_to_live(asked.ttl_ms)?;
    let renewed = app.forebay.lock(&name).time_to_live(life).renew(token).await;
    match renewed.map_err(|error| refused(&error))? {
        true => Ok(answer::json(&Renewed { ttl_ms: millis(life) })),
        false => Err(not_the_holder("nothing is changed")),
    }
}

/// Takes the lock from whoever holds it, who is told when he renews it.
#[utoipa::path(
    delete, path = "/ops/locks/{name}", tag = "operations",
    responses(
        (status = 200, description = "It is free", body = Released),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn force_release(
    State(app): State<Shared>,
    Named(name): Named,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    extract::without_token(&headers)?;
    extract::unconditional(&headers)?;
    let released = app.forebay.lock(&name).force_release().await.map_err(|error| refused(&error))?;
    Ok(answer::json(&Released { released }))
}

/// Frees the lock.
#[utoipa::path(
    delete, path = "/v1/locks/{name}", tag = "locks",
    params(
        ("Forebay-Token" = String, Header, description = "The token that the POST has handed out", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
    ),
    responses(
        (status = 204, description = "It is free"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::NotTheHolder, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn release(
    State(app): State<Shared>,
    Named(name): Named,
    HeldToken(token): HeldToken,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    done(app.forebay.lock(&name).release(token).await?)
}
