//! `/v1/claims/{name}`: names that one caller takes for a time.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::once::Claim;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ClaimAsked, example = json!({ "ttl_ms": 60000 }))]
struct Asked {
    #[schema(value_type = u64, minimum = 1, maximum = 315360000000_u64)]
    ttl_ms: Option<u64>,
    #[schema(value_type = Option<String>, pattern = "^[0-9a-f]{32}$")]
    token: Option<GivenToken>,
}

/// A name that is the client's for a time.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Claim)]
struct Claimed {
    token: String,
    ttl_ms: u64,
}

/// Claims the name, unless somebody has.
#[utoipa::path(
    post, path = "/v1/claims/{name}", tag = "claims",
    request_body(content = Asked),
    responses(
        (status = 201, description = "The name is yours", body = Claimed),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::Taken, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
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
            let claimed = Claimed { token: token.to_string(), ttl_ms: millis(left) };
            Ok((StatusCode::CREATED, answer::json(&claimed)).into_response())
        }
        Claim::Taken { retry_after } => Err(occupied(Kind::Taken, "somebody else was first", retry_after)),
    }
}

/// Frees the name before its time.
#[utoipa::path(
    delete, path = "/v1/claims/{name}", tag = "claims",
    params(
        ("Forebay-Token" = String, Header, description = "The token that the POST has handed out", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
    ),
    responses(
        (status = 204, description = "The name is free"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::NotTheHolder, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
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
