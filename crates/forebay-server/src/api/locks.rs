//! `/v1/locks/{name}`: one holder at a time, for clients in any language.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::lock::{Lock, LockError};
use serde::{Deserialize, Serialize};
use serde_json::json;

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

/// The body of `POST /v1/locks/{name}`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    ttl_ms: Option<u64>,
    /// What is left out is 0: the client is answered at once.
    wait_ms: Option<u64>,
    token: Option<GivenToken>,
}

/// The body of `PATCH /v1/locks/{name}`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedAgain {
    ttl_ms: Option<u64>,
}

/// A lock that the client holds.
#[derive(Debug, Serialize)]
struct Taken {
    token: String,
    fence: u64,
    ttl_ms: u64,
}

impl Asked {
    fn lock(&self, app: &App, name: &str) -> Result<Lock, Problem> {
        let lock = app.forebay.lock(name).time_to_live(self.life()).wait(self.wait(app)?);
        Ok(match self.token {
            Some(GivenToken(token)) => lock.token(token),
            None => lock,
        })
    }

    fn life(&self) -> Duration {
        life(self.ttl_ms, LIFE)
    }

    /// How long the client waits: less than the request may take, so that it hears how that ends.
    fn wait(&self, app: &App) -> Result<Duration, Problem> {
        let (wait, most) = (life(self.wait_ms, Duration::ZERO), app.lock_wait);
        if wait > most {
            let bounds = format!("at most {}, which `server.request_deadline` leaves", most.as_millis());
            return Err(Problem::new(Kind::InvalidBody, format!("in the body, `wait_ms` must be {bounds}")));
        }
        Ok(wait)
    }
}

/// Takes the lock, and waits for it if the client wants to.
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
        taken = lock.acquire() => taken,
        // One more question, since the last one may have been on its way when the waiting ended.
        () = app.draining.cancelled() => lock.clone().wait(Duration::ZERO).acquire().await,
    };
    // If the client goes away before this, the lock is freed; after it, it lasts for its life.
    let guard = taken.map_err(untaken)?;
    let (fence, ttl_ms) = (guard.fence(), millis(asked.life()));
    let taken = Taken { token: guard.into_token().to_string(), fence, ttl_ms };
    Ok((StatusCode::CREATED, answer::json(&taken)).into_response())
}

fn untaken(error: LockError) -> Problem {
    match error {
        LockError::Busy { retry_after } => {
            occupied(Kind::Locked, "somebody else holds it, and may renew it", retry_after)
        }
        LockError::Unavailable(error) | LockError::Invalid(error) => refused("ttl_ms", &error),
        lost => Problem::new(Kind::Internal, lost.to_string()),
    }
}

/// Holds the lock for longer.
pub(crate) async fn renew(
    State(app): State<Shared>,
    Named(name): Named,
    HeldToken(token): HeldToken,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let asked: AskedAgain = extract::json(body).await?;
    let life = life(asked.ttl_ms, LIFE);
    let renewed = app.forebay.lock(&name).time_to_live(life).renew(token).await;
    match renewed.map_err(|error| refused("ttl_ms", &error))? {
        true => Ok(answer::json(&json!({ "ttl_ms": millis(life) }))),
        false => Err(not_the_holder("nothing is changed")),
    }
}

/// Frees the lock.
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
