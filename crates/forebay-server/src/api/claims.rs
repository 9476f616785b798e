//! `/v1/claims/{name}`: names that one caller takes for a time.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::once::Claim;
use serde::Deserialize;
use serde_json::json;

use super::{
    answer::{self, millis},
    given::{GivenToken, done, life, occupied, refused, required},
};
use crate::{
    app::Shared,
    error::{Kind, Problem},
    extract::{self, HeldToken, Named, Query},
};

/// The lives that a claim can have, as the library bounds them.
const BOUNDS: [Duration; 2] = [Duration::from_millis(1), Duration::from_hours(24 * 3650)];

/// The body of `POST /v1/claims/{name}`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    ttl_ms: Option<u64>,
    token: Option<GivenToken>,
}

/// Claims the name, unless somebody has.
pub(crate) async fn claim(
    State(app): State<Shared>,
    Named(name): Named,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    extract::without_token(&headers)?;
    let Asked { ttl_ms, token } = extract::json(body).await?;
    let life = life(required(ttl_ms, "ttl_ms")?, "ttl_ms", BOUNDS, "")?;
    let claimed = match token {
        Some(GivenToken(token)) => app.forebay.claim_as(&name, life, token).await,
        None => app.forebay.claim(&name, life).await,
    };
    match claimed.map_err(|error| refused(&error))? {
        Claim::Claimed { token, left } => {
            let members = json!({ "token": token.to_string(), "ttl_ms": millis(left) });
            Ok((StatusCode::CREATED, answer::json(&members)).into_response())
        }
        Claim::Taken { retry_after } => Err(occupied(Kind::Taken, "somebody else was first", retry_after)),
    }
}

/// Frees the name before its time.
pub(crate) async fn give_back(
    State(app): State<Shared>,
    Named(name): Named,
    HeldToken(token): HeldToken,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    done(app.forebay.unclaim(&name, token).await?)
}
