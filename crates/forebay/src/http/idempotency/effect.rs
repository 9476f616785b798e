//! Whether a request had an effect, as its answer tells.

use http::{Response, StatusCode};

/// Answers with these say that a request was refused before anything was done for it.
const REFUSALS: [u16; 18] =
    [400, 401, 403, 404, 405, 406, 411, 412, 413, 414, 415, 417, 421, 422, 428, 429, 431, 503];

/// Says whether a request had an effect, where its status says otherwise: a handler puts it into the extensions of
/// its answer, with axum as `Extension(Effect::None)`.
///
/// Without it, 400, 401, 403, 404, 405, 406, 411 to 415, 417, 421, 422, 428, 429, 431 and 503 say that nothing was
/// done, and every other status that something was: also 500, after which nobody knows.
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
        answer.extensions().get().copied().unwrap_or_else(|| Self::of_status(answer.status()))
    }

    fn of_status(status: StatusCode) -> Self {
        if REFUSALS.contains(&status.as_u16()) { Self::None } else { Self::Done }
    }
}
