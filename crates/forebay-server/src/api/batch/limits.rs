//! `/v1/batch/limits`: many checks at once, of any policies.

use std::collections::HashMap;

use axum::{
    body::Body,
    extract::{Extension, State},
    http::Uri,
    response::Response,
};
use forebay::Subject;
use futures::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    api::{answer, decision},
    app::Shared,
    error::Problem,
    extract::{self, Query},
    limits::Limits,
    middleware::RequestId,
};

/// How many checks one request may make.
const MOST: usize = 1_000;

/// For how many subjects checks are made at a time: more would hold up other requests.
const AT_A_TIME: usize = 64;

/// One check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BatchCheck, example = json!({ "policy": "api", "subject": "user:42" }))]
struct Item {
    policy: String,
    subject: String,
    tier: Option<String>,
    cost: Option<u64>,
}

/// What each check is told: a decision, or why there is none, or both.
#[derive(ToSchema)]
#[schema(as = BatchDecision)]
#[expect(dead_code, reason = "it is only described: decisions and problems are written where they are made")]
struct Answer {
    #[serde(flatten)]
    decision: Option<decision::Told<'static>>,
    /// Of a refusal, as are `title`, `detail` and the others.
    #[schema(nullable = false)]
    r#type: Option<String>,
    #[schema(nullable = false)]
    status: Option<u16>,
}

/// Answers each item, in order, by what `POST /v1/limits/{policy}` would have as its body.
#[utoipa::path(
    post, path = "/v1/batch/limits", tag = "batch",
    request_body(content = Vec<Item>, description = "Up to 1,000 checks"),
    responses(
        (status = 200, description = "Each in its place, as it would have been told alone", body = Vec<Answer>),
    ),
)]
pub(crate) async fn check(
    State(app): State<Shared>,
    Extension(id): Extension<RequestId>,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let items: Vec<Result<Item, Problem>> = extract::list(body, MOST).await?;
    let mut answers: Vec<Value> = vec![Value::Null; items.len()];
    let mut queues: HashMap<(String, String), Vec<(usize, Item)>> = HashMap::new();
    for (place, item) in items.into_iter().enumerate() {
        match item {
            Ok(item) => queues.entry(item.whose()).or_default().push((place, item)),
            Err(problem) => answers[place] = problem.value(id.as_str()),
        }
    }
    let queues = stream::iter(queues.into_values()).map(|queue| in_turn(queue, &app.limits, id.as_str()));
    let mut decided = queues.buffer_unordered(AT_A_TIME).flat_map(stream::iter);
    while let Some((place, answer)) = decided.next().await {
        answers[place] = answer;
    }
    Ok(answer::json(&answers))
}

/// The items of one subject, in order: so that the first ones are admitted, and one refusal does for all that follow.
async fn in_turn(queue: Vec<(usize, Item)>, limits: &Limits, request_id: &str) -> Vec<(usize, Value)> {
    let queue = stream::iter(queue);
    queue.then(async |(place, item)| (place, item.check(limits, request_id).await)).collect().await
}

impl Item {
    fn whose(&self) -> (String, String) {
        (self.policy.clone(), self.subject.clone())
    }

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
