//! The layer that has a request carried out once, whatever its client retries.
//!
//! | to see | read |
//! |---|---|
//! | what tells requests apart | `key` |
//! | what each of them comes to | `service` |
//! | how a handler is run, and its answer recorded on its way | `recorder`, `body` |
//! | which answers are kept, and what of them | `effect`, `answer` |
//! | what the others are told | `refusal` |

mod answer;
mod body;
mod effect;
mod frames;
mod key;
mod recorder;
mod refusal;
mod service;

use std::{fmt, sync::Arc, time::Duration};

use http::{HeaderName, Method, request::Parts};
use tower_layer::Layer;

use self::{
    answer::{NEVER, REPLAYED},
    refusal::Refusal,
};
pub use self::{body::IdempotentBody, effect::Effect, service::Idempotent};
use super::caller::Caller;
use crate::{
    error::Error,
    once::{Begun, Idempotency},
};

/// Has requests that come with an `Idempotency-Key` carried out once for each caller, method, route and key
/// (draft-ietf-httpapi-idempotency-key-header), by default those of the methods POST and PATCH.
///
/// Whoever sends a request again is given the first answer, with `Idempotent-Replayed: true`; while the first is
/// being carried out, 409 with `Retry-After`. A key that was used for another request is 422. Where a handler's
/// process has died, or its answer broke off, the effect may be there: that is 409 `…/indeterminate`, or carried out
/// again, as [`OnIndeterminate`](crate::once::OnIndeterminate) says. While Redis cannot be asked it is 503. All are
/// problems (RFC 9457).
///
/// Requests are the same if they are so to the byte: method, target, `Content-Type` and body, which is read before the
/// handler runs.
///
/// A handler runs in a task of its own, to its end, also when the client goes away. Its answer is passed on as it
/// comes, and kept once it has ended, unless [`Effect`] says that nothing was done. One that is larger than
/// [`max_record`](crate::once::Builder::max_record) counts as done, and whoever asks again is told so (409
/// `…/answer-not-kept`). Kept are the status, the body and the headers that describe it; never `Set-Cookie` and
/// credentials.
///
/// Put a [`CallerLayer`](super::CallerLayer) in front, which says who is asking, and this within the router, so that
/// it knows the route. Limits and whatever else may refuse a request belong in front of it.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use axum::{Router, body::Body, routing::post};
/// use forebay::{Forebay, Subject, http::{Caller, IdempotencyLayer}};
/// use http::Request;
/// use tower::ServiceExt;
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let router = Router::new()
///     .route("/payments", post(async || "paid"))
///     .layer(IdempotencyLayer::new(forebay.idempotency().build()?).required());
///
/// for replayed in [false, true] {
///     let mut request = Request::post("/payments").header("idempotency-key", "8e03978e").body(Body::from("12 EUR"))?;
///     // As a CallerLayer does.
///     request.extensions_mut().insert(Caller::unknown().identified(Subject::user("42").into()));
///     let answer = router.clone().oneshot(request).await?;
///     assert_eq!(answer.headers().contains_key("idempotent-replayed"), replayed);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct IdempotencyLayer {
    rules: Arc<Rules>,
}

#[derive(Clone)]
struct Rules {
    idempotency: Idempotency,
    methods: Vec<Method>,
    required: bool,
    anonymous: bool,
    unprotected: bool,
    wait: Duration,
    max_body: usize,
    replayed: Vec<HeaderName>,
}

impl IdempotencyLayer {
    /// Guards POST and PATCH requests that have a key, and lets all others pass.
    #[must_use]
    pub fn new(idempotency: Idempotency) -> Self {
        let rules = Rules {
            idempotency,
            // The others are idempotent by themselves.
            methods: vec![Method::POST, Method::PATCH],
            required: false,
            anonymous: false,
            unprotected: false,
            wait: Duration::ZERO,
            max_body: 1 << 20,
            replayed: REPLAYED.to_vec(),
        };
        Self { rules: Arc::new(rules) }
    }

    /// Sets which methods are guarded. Default: POST and PATCH.
    #[must_use]
    pub fn methods(self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.with(|rules| rules.methods = methods.into_iter().collect())
    }

    /// Answers requests without a key with 400. Default: they pass, and are not guarded.
    #[must_use]
    pub fn required(self) -> Self {
        self.with(|rules| rules.required = true)
    }

    /// Takes keys also from callers who are known by their address or an anonymous id alone. Default: that is 400,
    /// as whoever shares an address, or has none, could be given somebody else's answer.
    #[must_use]
    pub fn allow_anonymous(self) -> Self {
        self.with(|rules| rules.anonymous = true)
    }

    /// Lets requests pass unguarded while Redis cannot be asked: their handlers may run twice. Default: 503.
    #[must_use]
    pub fn unprotected_on_outage(self) -> Self {
        self.with(|rules| rules.unprotected = true)
    }

    /// Sets how long a request waits for the answer of another that is being carried out, before it is told 409.
    /// Default: not at all.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        self.with(|rules| rules.wait = wait)
    }

    /// Sets how many bytes the body of a request with a key may have; a larger one is 413. Default: 1 MiB.
    #[must_use]
    pub fn max_body(self, bytes: usize) -> Self {
        self.with(|rules| rules.max_body = bytes)
    }

    /// Adds a header that answers are handed out again with.
    ///
    /// # Panics
    ///
    /// One that sets a cookie or carries credentials.
    #[must_use]
    pub fn replay_header(self, name: HeaderName) -> Self {
        assert!(
            !NEVER.contains(&name.as_str()),
            "{name} is one caller's at one time: it is never handed out again"
        );
        self.with(|rules| rules.replayed.push(name))
    }

    fn with(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        change(Arc::make_mut(&mut self.rules));
        self
    }
}

impl Rules {
    /// The name under which a request is carried out, if it is one that is guarded.
    fn name(&self, head: &Parts) -> Result<Option<String>, Refusal> {
        if !self.methods.contains(&head.method) {
            return Ok(None);
        }
        let key = key::key(&head.headers).map_err(|key::Unusable(why)| Refusal::KeyUnusable(why))?;
        let Some(key) = key else {
            return if self.required { Err(Refusal::KeyMissing) } else { Ok(None) };
        };
        let caller = Caller::of(&head.extensions);
        if !self.anonymous && is_anonymous(&caller) {
            return Err(Refusal::Anonymous);
        }
        Ok(Some(key::name(caller.subject(), head, &key)))
    }

    async fn begin(&self, name: &str, fingerprint: &str) -> Result<Begun, Error> {
        self.idempotency.begin_within(name, fingerprint, self.wait).await
    }
}

/// Whether it takes no more than an address or a cookie to be this caller.
fn is_anonymous(caller: &Caller) -> bool {
    ["address:", "anonymous:"].iter().any(|kind| caller.subject().as_str().starts_with(kind))
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("idempotency", &self.idempotency)
            .field("methods", &self.methods)
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = Idempotent<S>;

    fn layer(&self, inner: S) -> Idempotent<S> {
        Idempotent::new(inner, self.rules.clone())
    }
}
