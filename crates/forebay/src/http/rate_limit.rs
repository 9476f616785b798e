//! The layer that takes each request from quotas, and answers those that have none left.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response, request::Parts};
use tower_layer::Layer;
use tower_service::Service;

use super::{
    headers::HeaderStyle,
    refusal::refuse,
    whose::{Asked, Whose},
};
use crate::limiter::{Decision, Limiter, Reservation};

/// Lets requests through as a [`Limiter`] allows, and answers the others itself: 429 where a limit is reached, 422
/// where the cost is above a limit, 503 where the limiter cannot say. Each is a problem (RFC 9457), is not to be
/// cached, and says when to come back where that helps.
///
/// Put a [`CallerLayer`](super::CallerLayer) in front, which says who is asking; without one all callers share one
/// quota, and a warning is logged.
///
/// Layers may lie on top of each other, for example one of the whole service and one of a costly route. Where the
/// inner one refuses, what the outer one took is given back. The answer shows one quota: that of the refusal, else
/// the one with the least left. It carries the [`Decision`] in its extensions.
///
/// What was taken stays taken when the client goes away meanwhile: otherwise that would be a way to ask for free.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::convert::Infallible;
/// use forebay::{Forebay, http::{Addresses, CallerLayer, HeaderStyle, RateLimitLayer}, limiter::Tiers};
/// use http::{Request, Response, StatusCode};
/// use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let limiter = forebay.limiter("api", Tiers::new().tier("free", ["1/minute"])?).build()?;
///
/// let mut service = ServiceBuilder::new()
///     .layer(CallerLayer::new(Addresses::new()))
///     .layer(RateLimitLayer::new(limiter).headers(HeaderStyle::Draft11))
///     .service(service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(String::new()))));
///
/// let answer = service.ready().await?.call(Request::new(())).await?;
/// assert_eq!(answer.headers()["x-ratelimit-remaining"], "0");
/// assert_eq!(answer.headers()["ratelimit-policy"], "\"api-minute\";q=1;w=60");
///
/// let answer = service.ready().await?.call(Request::new(())).await?;
/// assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
/// assert!(answer.headers().contains_key("retry-after"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RateLimitLayer {
    rules: Arc<Rules>,
}

#[derive(Clone)]
struct Rules {
    limiter: Limiter,
    whose: Vec<Whose>,
    cost: Arc<dyn Fn(&Parts) -> u64 + Send + Sync>,
    skip: Arc<dyn Fn(&Parts) -> bool + Send + Sync>,
    style: HeaderStyle,
}

impl RateLimitLayer {
    /// Takes 1 for each request from its caller's quota.
    #[must_use]
    pub fn new(limiter: Limiter) -> Self {
        let rules = Rules {
            limiter,
            whose: vec![Whose::caller()],
            cost: Arc::new(|_| 1),
            skip: Arc::new(|_| false),
            style: HeaderStyle::default(),
        };
        Self { rules: Arc::new(rules) }
    }

    /// Sets whose quota requests are taken from. Of several the narrowest comes first; where a later one refuses,
    /// what the earlier ones gave is given back. Default: [`Whose::caller`].
    ///
    /// # Panics
    ///
    /// An empty list, which would limit nobody.
    #[must_use]
    pub fn by(self, whose: impl IntoIterator<Item = Whose>) -> Self {
        let whose: Vec<_> = whose.into_iter().collect();
        assert!(!whose.is_empty(), "a RateLimitLayer by nobody's quota limits nobody; name one at least");
        self.with(|rules| rules.whose = whose)
    }

    /// Sets how much a request takes, by its head. Default: 1.
    #[must_use]
    pub fn cost(self, cost: impl Fn(&Parts) -> u64 + Send + Sync + 'static) -> Self {
        self.with(|rules| rules.cost = Arc::new(cost))
    }

    /// Sets which requests pass without being counted, by their head. Default: none.
    #[must_use]
    pub fn skip(self, skip: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.with(|rules| rules.skip = Arc::new(skip))
    }

    /// Sets the headers that show a quota. Default: [`HeaderStyle::Legacy`].
    #[must_use]
    pub fn headers(self, style: HeaderStyle) -> Self {
        self.with(|rules| rules.style = style)
    }

    fn with(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        change(Arc::make_mut(&mut self.rules));
        self
    }
}

impl Rules {
    /// Takes `cost` from all quotas, or from none.
    async fn take(&self, asked: &[Asked], cost: u64) -> Result<Vec<Reservation>, Decision> {
        let asked: Vec<_> = asked.iter().map(|Asked { subject, tier }| (subject, &**tier)).collect();
        self.limiter.reserve_all(&asked, cost).await
    }

    /// Shows what is left in the answer, unless a layer further in has less.
    fn show<B>(&self, held: Vec<Reservation>, response: &mut Response<B>) {
        let further_in = response.extensions().get::<Decision>();
        if further_in.is_some_and(|decision| !decision.is_allowed()) {
            give_back(held);
            return;
        }
        let binding = held.iter().map(Reservation::quota).min_by_key(|quota| quota.left());
        let Some(quota) = binding else { return };
        if let Some(Decision::Allowed(other)) = further_in
            && other.left() <= quota.left()
        {
            return;
        }
        let decision = Decision::Allowed(quota.clone());
        self.style.write(&decision, response.headers_mut());
        response.extensions_mut().insert(decision);
    }
}

/// Gives back what was taken, and lets nobody wait for it.
fn give_back(held: Vec<Reservation>) {
    held.into_iter().for_each(|reservation| drop(reservation.give_back()));
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("policy", &self.limiter.policy())
            .field("whose", &self.whose)
            .field("style", &self.style)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for RateLimitLayer {
    type Service = RateLimit<S>;

    fn layer(&self, inner: S) -> RateLimit<S> {
        RateLimit { inner, rules: self.rules.clone() }
    }
}

/// The service of a [`RateLimitLayer`].
#[derive(Clone, Debug)]
pub struct RateLimit<S> {
    inner: S,
    rules: Arc<Rules>,
}

impl<S, B, R> Service<Request<B>> for RateLimit<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
    R: From<String>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that is ready goes into the future; its clone may not be.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let (head, body) = request.into_parts();
        if (self.rules.skip)(&head) {
            return Box::pin(inner.call(Request::from_parts(head, body)));
        }
        let rules = self.rules.clone();
        let (asked, cost) = (Whose::all(&rules.whose, &head), (rules.cost)(&head));
        Box::pin(async move {
            let held = match rules.take(&asked, cost).await {
                Ok(held) => held,
                Err(decision) => return Ok(refuse(decision, cost, rules.style)),
            };
            let mut response = inner.call(Request::from_parts(head, body)).await?;
            rules.show(held, &mut response);
            Ok(response)
        })
    }
}
