//! `/v1/limits/{policy}`: whether somebody may go on, and what is left.

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::Subject;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    decision::{self, Told},
    given::required,
};
use crate::{
    app::Shared,
    error::{Kind, Problem},
    extract::{self, AskedPolicy, AskedSubject, Query},
};

/// The body of `POST /v1/limits/{policy}`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Check, example = json!({ "subject": "user:42", "tier": "free", "cost": 1 }))]
pub(crate) struct Asked {
    #[schema(value_type = String)]
    subject: Option<String>,
    /// What is left out is the policy's lowest.
    tier: Option<String>,
    cost: Option<u64>,
}

/// Takes the cost, all of it or nothing.
#[utoipa::path(
    post, path = "/v1/limits/{policy}", tag = "limits",
    request_body(content = Asked),
    responses(
        (status = 200, description = "It may go on", body = Told, headers(("X-RateLimit-Limit"), ("X-RateLimit-Remaining"), ("X-RateLimit-Reset"), ("RateLimit"), ("RateLimit-Policy"))),
    ),
    extensions(("x-problems" = json!([Kind::NeverFits, Kind::RedisUnavailable]))),
)]
pub(crate) async fn check(
    State(app): State<Shared>,
    AskedPolicy(policy): AskedPolicy,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let Asked { subject, tier, cost } = extract::json(body).await?;
    let subject = required(subject, "subject")?;
    let tier = tier.as_deref().unwrap_or(&policy.lowest);
    let subject = Subject::spelled(subject);
    let decision = policy.limiter.check_cost(&subject, tier, cost.unwrap_or(1)).await;
    Ok(decision::answer(policy.limiter.policy(), &decision, app.limit_headers))
}

/// Answers what is left, and takes nothing.
#[utoipa::path(
    get, path = "/v1/limits/{policy}/{subject}", tag = "limits",
    params(
        ("tier" = Option<String>, Query, nullable = false, description = "The tier of the subject; the lowest of the policy if left out", min_length = 1),
    ),
    responses(
        (status = 200, description = "What is left, whatever that is", body = Told, headers(("X-RateLimit-Limit"), ("X-RateLimit-Remaining"), ("X-RateLimit-Reset"), ("RateLimit"), ("RateLimit-Policy"))),
    ),
    extensions(("x-problems" = json!([Kind::RedisUnavailable]))),
)]
pub(crate) async fn peek(
    State(app): State<Shared>,
    AskedSubject { policy, subject }: AskedSubject,
    uri: Uri,
) -> Result<Response, Problem> {
    let query = Query::read(&uri, &["tier"])?;
    let tier = query.text("tier").unwrap_or(&policy.lowest);
    let decision = policy.limiter.peek(&subject, tier).await;
    Ok(decision::report(policy.limiter.policy(), &decision, app.limit_headers))
}

/// Gives the subject its whole quota back.
#[utoipa::path(
    delete, path = "/v1/limits/{policy}/{subject}", tag = "limits",
    responses(
        (status = 204, description = "The whole quota is there again"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::RedisUnavailable]))),
)]
pub(crate) async fn reset(
    AskedSubject { policy, subject }: AskedSubject,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    policy.limiter.reset(&subject).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
