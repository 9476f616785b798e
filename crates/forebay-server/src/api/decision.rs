//! Decisions of limiters as answers.

use axum::response::{IntoResponse, Response};
use forebay::{
    http::HeaderStyle,
    limiter::{Decision, Quota, WindowQuota},
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::answer::{self, millis};
use crate::error::{Kind, Problem};

/// A decision, with the figures of the window that binds. What does not exist is null: the limit of a tier without
/// one, when to come back with a cost that never fits.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Decision)]
pub(crate) struct Told<'a> {
    allowed: bool,
    policy: &'a str,
    tier: Option<&'a str>,
    limit: Option<u64>,
    remaining: Option<u64>,
    reset_after_ms: Option<u64>,
    retry_after_ms: Option<u64>,
    windows: Vec<Window>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DecidedWindow)]
pub(crate) struct Window {
    limit: u64,
    window_ms: u64,
    remaining: u64,
    reset_after_ms: u64,
}

/// 200 if it is allowed, else the refusal.
pub(crate) fn answer(policy: &str, decision: &Decision, style: HeaderStyle) -> Response {
    let told = Told::of(policy, decision);
    let mut response = match refusal(decision) {
        None => answer::json(&told),
        Some(problem) => problem.with(&told).into_response(),
    };
    style.write(decision, response.headers_mut());
    response
}

/// 200 whatever the decision would be, unless there is none.
pub(super) fn report(policy: &str, decision: &Decision, style: HeaderStyle) -> Response {
    if decision.quota().is_none() {
        return answer(policy, decision, style);
    }
    let mut response = answer::json(&Told::of(policy, decision));
    style.write(decision, response.headers_mut());
    response
}

/// The body of the answer.
pub(super) fn value(policy: &str, decision: &Decision, request_id: &str) -> Value {
    let told = Told::of(policy, decision);
    match refusal(decision) {
        None => serde_json::to_value(&told).expect("a decision has a JSON form"),
        Some(problem) => problem.with(&told).value(request_id),
    }
}

fn refusal(decision: &Decision) -> Option<Problem> {
    Some(match decision {
        Decision::Allowed(_) => return None,
        Decision::Denied { quota, retry_after } => {
            let detail = format!("the limit of {} in {:?} is reached", quota.limit(), quota.window());
            Problem::new(Kind::QuotaExceeded, detail).retry_after(*retry_after)
        }
        Decision::NeverFits { limit } => {
            let detail =
                format!("the limit is {limit}, so that waiting does not help; ask for less at a time");
            Problem::new(Kind::NeverFits, detail)
        }
        Decision::Unavailable { retry_after } => {
            let detail = "what is left cannot be found out, and the policy admits nobody then";
            Problem::new(Kind::RedisUnavailable, detail).retry_after(*retry_after)
        }
    })
}

impl<'a> Told<'a> {
    fn of(policy: &'a str, decision: &'a Decision) -> Self {
        let quota = decision.quota();
        let limited = quota.filter(|quota| !quota.is_unlimited());
        let (limit, retry_after) = match decision {
            Decision::Allowed(_) => (limited.map(Quota::limit), Some(0)),
            Decision::Denied { quota, retry_after } => (Some(quota.limit()), Some(millis(*retry_after))),
            Decision::NeverFits { limit } => (Some(*limit), None),
            Decision::Unavailable { retry_after } => (None, Some(millis(*retry_after))),
        };
        Self {
            allowed: decision.is_allowed(),
            policy,
            tier: quota.map(Quota::tier),
            limit,
            remaining: limited.map(Quota::remaining),
            reset_after_ms: limited.map(|quota| millis(quota.reset_after())),
            retry_after_ms: retry_after,
            windows: quota.into_iter().flat_map(Quota::windows).map(Window::from).collect(),
        }
    }
}

impl From<WindowQuota> for Window {
    fn from(quota: WindowQuota) -> Self {
        Self {
            limit: quota.limit,
            window_ms: millis(quota.window),
            remaining: quota.remaining,
            reset_after_ms: millis(quota.reset_after),
        }
    }
}
