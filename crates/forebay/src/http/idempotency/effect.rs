//! Whether a request had an effect, as its answer tells.

use http::{Response, StatusCode};

use crate::limiter::Decision;

/// Answers with these say that a request was refused before anything was done for it. 429 and 503 do not: a handler may
/// pass on what a bank has said after it was asked.
const REFUSALS: [u16; 15] = [400, 401, 403, 404, 405, 406, 411, 412, 413, 414, 415, 417, 422, 428, 431];

/// Says whether a request had an effect, where its status says otherwise: a handler puts it into the extensions of
/// its answer, with axum as `Extension(Effect::None)`.
///
/// Without it, 400, 401, 403, 404, 405, 406, 411 to 415, 417, 422, 428 and 431 say that nothing was done, as does a
/// refusal of a [`RateLimitLayer`](crate::http::RateLimitLayer) further in, and every other status that something was:
/// also 429, 500 and 503 of a handler, after which nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Something was done: the answer is kept, and handed out to whoever asks again.
    Done,
    /// Nothing was done: the answer is not kept, and whoever asks again is served anew.
    None,
}

impl Effect {
    /// The effect that an answer tells of.
    pub(super) fn of<B>(answer: &Response<B>) -> Self {
        let refused = answer.extensions().get().is_some_and(|decision: &Decision| !decision.is_allowed());
        let otherwise = || if refused { Self::None } else { Self::of_status(answer.status()) };
        answer.extensions().get().copied().unwrap_or_else(otherwise)
    }

    fn of_status(status: StatusCode) -> Self {
        if REFUSALS.contains(&status.as_u16()) { Self::None } else { Self::Done }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_a_limit_of_ours_says_by_503_that_nothing_was_done() {
        let mut answer = Response::new(());
        *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        assert_eq!(Effect::of(&answer), Effect::Done);
        answer.extensions_mut().insert(Decision::Unavailable { retry_after: Duration::from_secs(1) });
        assert_eq!(Effect::of(&answer), Effect::None);
        answer.extensions_mut().insert(Effect::Done);
        assert_eq!(Effect::of(&answer), Effect::Done);
    }
}
