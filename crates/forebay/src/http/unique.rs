//! The layer that records who asks as a visitor.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::Either;
use http::{Request, Response, StatusCode, request::Parts};
use tower_layer::Layer;
use tower_service::Service;

use super::caller::Caller;
use crate::unique::Unique;

type Skip = Arc<dyn Fn(&Parts) -> bool + Send + Sync>;
type After = Arc<dyn Fn(StatusCode) -> bool + Send + Sync>;

/// Records the subject of each request's [`Caller`] in a [`Unique`]. No request waits for that.
///
/// Put a [`CallerLayer`](super::CallerLayer) in front, which says who is asking; without one all callers are one
/// visitor, and a warning is logged.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::convert::Infallible;
/// use forebay::{Forebay, http::{Addresses, CallerLayer, UniqueLayer}};
/// use http::{Method, Request, Response};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let visitors = forebay.unique("site").build()?;
///
/// let service = ServiceBuilder::new()
///     .layer(CallerLayer::new(Addresses::new()))
///     .layer(UniqueLayer::new(visitors.clone()).skip(|head| head.method != Method::GET).after(|status| status.is_success()))
///     .service(service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(()))));
///
/// service.oneshot(Request::new(())).await?;
/// assert_eq!(visitors.today().await?.visitors, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct UniqueLayer {
    rules: Rules,
}

#[derive(Clone)]
struct Rules {
    unique: Unique,
    skip: Option<Skip>,
    after: Option<After>,
}

impl UniqueLayer {
    /// Records who asks as soon as a request comes.
    #[must_use]
    pub fn new(unique: Unique) -> Self {
        Self { rules: Rules { unique, skip: None, after: None } }
    }

    /// Sets which requests are not recorded, by their head. Default: none.
    #[must_use]
    pub fn skip(mut self, skip: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.rules.skip = Some(Arc::new(skip));
        self
    }

    /// Sets after which answers a request is recorded. One whose client goes away before is not recorded then.
    /// Default: all requests are recorded, before they are answered.
    #[must_use]
    pub fn after(mut self, after: impl Fn(StatusCode) -> bool + Send + Sync + 'static) -> Self {
        self.rules.after = Some(Arc::new(after));
        self
    }
}

impl Rules {
    fn skips(&self, head: &Parts) -> bool {
        self.skip.as_ref().is_some_and(|skip| skip(head))
    }

    fn record(&self, caller: &Caller) {
        self.unique.record(caller.subject().as_str());
    }
}

impl fmt::Debug for UniqueLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.fmt(f)
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UniqueLayer")
            .field("unique", &self.unique)
            .field("skips", &self.skip.is_some())
            .field("after", &self.after.is_some())
            .finish()
    }
}

impl<S> Layer<S> for UniqueLayer {
    type Service = UniqueService<S>;

    fn layer(&self, inner: S) -> UniqueService<S> {
        UniqueService { inner, rules: self.rules.clone() }
    }
}

/// The service of a [`UniqueLayer`].
#[derive(Clone, Debug)]
pub struct UniqueService<S> {
    inner: S,
    rules: Rules,
}

impl<S, B, R> Service<Request<B>> for UniqueService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Either<S::Future, Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (head, body) = request.into_parts();
        let caller = (!self.rules.skips(&head)).then(|| Caller::of(&head.extensions));
        let answer = self.inner.call(Request::from_parts(head, body));
        match (caller, &self.rules.after) {
            (None, _) => Either::Left(answer),
            (Some(caller), None) => {
                self.rules.record(&caller);
                Either::Left(answer)
            }
            (Some(caller), Some(after)) => {
                let (rules, after) = (self.rules.clone(), after.clone());
                Either::Right(Box::pin(async move {
                    let answer = answer.await?;
                    if after(answer.status()) {
                        rules.record(&caller);
                    }
                    Ok(answer)
                }))
            }
        }
    }
}
