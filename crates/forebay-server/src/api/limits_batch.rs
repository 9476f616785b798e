//! `/v1/batch/limits`: many checks at once, of any policies.

use axum::{
    body::Body,
    extract::{Extension, State},
    http::{HeaderMap, Uri},
    response::Response,
};
use forebay::Subject;
use futures::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::Value;

use super::{answer, decision};
use crate::{
    app::Shared,
    error::Problem,
    extract::{self, Query},
    limits::Limits,
    middleware::RequestId,
};

/// How many checks one request may make.
const MOST: usize = 1_000;

/// How many checks are made at a time: more would hold up other requests.
const AT_A_TIME: usize = 64;

/// One check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    policy: String,
    subject: String,
    tier: Option<String>,
    cost: Option<u64>,
}

/// Answers each item, in order, by what `POST /v1/limits/{policy}` would have as its body.
pub(crate) async fn check(
    State(app): State<Shared>,
    Extension(id): Extension<RequestId>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let items: Vec<Result<Item, Problem>> = extract::list(body, &headers, MOST).await?;
    let answers = stream::iter(items).map(async |item| match item {
        Ok(item) => item.check(&app.limits, id.as_str()).await,
        Err(problem) => problem.value(id.as_str()),
    });
    let answers: Vec<Value> = answers.buffered(AT_A_TIME).collect().await;
    Ok(answer::json(&answers))
}

impl Item {
    async fn check(self, limits: &Limits, request_id: &str) -> Value {
        let policy = match limits.find(&self.policy) {
            Ok(policy) => policy,
            Err(problem) => return problem.value(request_id),
        };
        let tier = self.tier.as_deref().unwrap_or(&policy.lowest);
        let subject = Subject::spelled(self.subject);
        let decision = policy.limiter.check_cost(&subject, tier, self.cost.unwrap_or(1)).await;
        decision::value(&self.policy, &decision, request_id)
    }
}
