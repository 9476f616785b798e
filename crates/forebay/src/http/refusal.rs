//! Refusals of a limiter as answers, with when to come back.

use std::time::Duration;

use http::Response;

use super::{
    headers::{HeaderStyle, seconds, window_name},
    problem::Problem,
};
use crate::limiter::{Decision, Quota};

const EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";
const REDUCED: &str = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
const NEVER_FITS: &str = "https://forebay.dev/problems/never-fits";

/// The answer to a request of this cost that was not let through, which carries `decision`.
pub(super) fn refuse<B: From<String>>(decision: Decision, cost: u64, style: HeaderStyle) -> Response<B> {
    let problem = Problem::of(&decision, cost);
    let mut response = problem.answer();
    style.write(&decision, response.headers_mut());
    response.extensions_mut().insert(decision);
    response
}

impl Problem {
    fn of(decision: &Decision, cost: u64) -> Self {
        // 0 would mean at once.
        let pause = |span: &Duration| seconds(*span).max(1);
        match decision {
            Decision::Denied { quota, retry_after } => Self::exceeded(quota, pause(retry_after), cost),
            Decision::NeverFits { limit } => Self::never_fits(*limit, cost),
            Decision::Unavailable { retry_after } => Self::unavailable(pause(retry_after)),
            Decision::Allowed(_) => unreachable!("what is allowed is not refused"),
        }
    }

    fn exceeded(quota: &Quota, seconds: u64, cost: u64) -> Self {
        let (limit, window) = (quota.limit(), quota.window());
        Self {
            r#type: EXCEEDED,
            title: "Quota Exceeded",
            status: 429,
            detail: format!("the limit of {limit} in {window:?} is reached; come back in {seconds} s"),
            retry_after: Some(seconds),
            violated_policies: violated(quota, cost),
        }
    }

    fn never_fits(limit: u64, cost: u64) -> Self {
        Self {
            r#type: NEVER_FITS,
            title: "The request costs more than can ever be allowed",
            status: 422,
            detail: format!("the request costs {cost} and the limit is {limit}; waiting does not help"),
            retry_after: None,
            violated_policies: Vec::new(),
        }
    }

    fn unavailable(seconds: u64) -> Self {
        Self {
            r#type: REDUCED,
            title: "Temporary Reduced Capacity",
            status: 503,
            detail: format!("whether the limit is reached cannot be found out; come back in {seconds} s"),
            retry_after: Some(seconds),
            violated_policies: Vec::new(),
        }
    }
}

/// The windows that have not enough left for `cost`; for a cost of 0 the one that binds, which has less than nothing.
fn violated(quota: &Quota, cost: u64) -> Vec<String> {
    let short: Vec<_> = quota.windows().filter(|window| window.remaining < cost).collect();
    let binding = quota.windows().filter(|window| window.window == quota.window());
    let violated = if short.is_empty() { binding.collect() } else { short };
    violated.iter().map(|window| window_name(quota, window)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // R29: 0 seconds means at once.
    #[test]
    fn nobody_is_asked_back_at_once() {
        for (millis, seconds) in [(0, 1), (1, 1), (1_000, 1), (1_001, 2)] {
            let decision = Decision::Unavailable { retry_after: Duration::from_millis(millis) };
            let problem = Problem::of(&decision, 1);
            assert_eq!(problem.retry_after, Some(seconds), "{millis} ms");
        }
    }
}
