//! What callers are told whose request is not carried out now.

use std::time::Duration;

use crate::http::{headers::seconds, problem::Problem};

/// Nobody knows how long somebody else still runs: a lease says only when that is renewed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a request is not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    KeyMissing,
    KeyUnusable(&'static str),
    Anonymous,
    BodyTooLarge(usize),
    BodyUnreadable,
    Running(Duration),
    Mismatch,
    Indeterminate,
    /// It was carried out, and its answer was not kept.
    AnswerNotKept,
    Unavailable,
}

impl Refusal {
    pub(super) fn problem(self) -> Problem {
        let (status, r#type, title) = self.row();
        let retry_after = match self {
            Self::Running(left) => Some(seconds(left.min(PATIENCE)).max(1)),
            Self::Unavailable => Some(1),
            _ => None,
        };
        Problem { r#type, title, status, detail: self.detail(), retry_after, violated_policies: Vec::new() }
    }

    fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::KeyMissing => {
                (400, "https://forebay.dev/problems/idempotency-key-missing", "An idempotency key is needed")
            }
            Self::KeyUnusable(_) => (
                400,
                "https://forebay.dev/problems/idempotency-key-invalid",
                "The idempotency key cannot be used",
            ),
            Self::Anonymous => (
                400,
                "https://forebay.dev/problems/idempotency-anonymous",
                "An idempotency key is for callers who are known",
            ),
            Self::BodyTooLarge(_) => (413, "https://forebay.dev/problems/too-large", "The body is too large"),
            Self::BodyUnreadable => {
                (400, "https://forebay.dev/problems/invalid-body", "The body cannot be read")
            }
            Self::Running(_) => {
                (409, "https://forebay.dev/problems/running", "A request with this key is being carried out")
            }
            Self::Mismatch => (
                422,
                "https://forebay.dev/problems/idempotency-key-reused",
                "The idempotency key was used for another request",
            ),
            Self::Indeterminate => (
                409,
                "https://forebay.dev/problems/indeterminate",
                "Nobody knows whether the request was carried out",
            ),
            Self::AnswerNotKept => (
                409,
                "https://forebay.dev/problems/answer-not-kept",
                "The request was carried out, and its answer was not kept",
            ),
            Self::Unavailable => (
                503,
                "https://forebay.dev/problems/redis-unavailable",
                "Whether the request was carried out before cannot be found out",
            ),
        }
    }

    fn detail(self) -> String {
        match self {
            Self::KeyMissing => "send a header Idempotency-Key, with a value of its own for each operation".into(),
            Self::KeyUnusable(why) => format!("the header Idempotency-Key cannot be used: {why}"),
            Self::Anonymous => {
                "keys are kept for each caller by itself: send credentials, or no Idempotency-Key".into()
            }
            Self::BodyTooLarge(most) => {
                format!("with an idempotency key a body may have {most} bytes at most")
            }
            Self::BodyUnreadable => "the body ended before it was whole".into(),
            Self::Running(_) => "send the request again later: it is then answered as the first one was".into(),
            Self::Mismatch => "a key belongs to one method, path, content type and body: make a new one".into(),
            Self::Indeterminate => {
                "a request with this key was begun, and has not ended as far as is known; it is not carried out \
                 again, as its effect may be there: look at the resource, then use a new key"
                    .into()
            }
            Self::AnswerNotKept => "it was too large, or had no end; look at the resource itself".into(),
            Self::Unavailable => "nothing was done; send the request again".into(),
        }
    }
}
