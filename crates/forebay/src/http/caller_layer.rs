//! The layer that resolves who is asking, once for all layers and handlers further in.

use std::{
    error::Error as StdError,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderValue, Request, Response, request::Parts};
use tower_layer::Layer;
use tower_service::Service;

use super::{
    addresses::Addresses,
    anonymous::{self, AnonymousIds},
    caller::{Caller, Place},
    identity::Identity,
    peer::Peer,
};
use crate::clock;

type Failure = Box<dyn StdError + Send + Sync>;
type Found = Pin<Box<dyn Future<Output = Result<Option<Identity>, Failure>> + Send>>;
type Lookup = Arc<dyn Fn(&Parts) -> Found + Send + Sync>;

/// Resolves the [`Caller`] of each request into its extensions.
///
/// The subject is who the look-up says, else the id in a signed cookie, else the address. It takes a Tokio runtime
/// with timers where there is a look-up.
///
/// # Example
///
/// ```
/// # async fn record(key: String) -> Result<Option<(u64, String)>, std::io::Error> { Ok(Some((7, "pro".into()))) }
/// use forebay::{Subject, http::{Addresses, CallerLayer, Identity}};
///
/// let layer = CallerLayer::new(Addresses::new()).lookup(|head| {
///     let key = head.headers.get("x-api-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
///     async move {
///         let Some(key) = key else { return Ok(None) };
///         let record = record(key).await?;
///         Ok::<_, std::io::Error>(record.map(|(id, tier)| Identity::new(Subject::key(id)).tier(tier)))
///     }
/// });
/// ```
#[derive(Clone)]
pub struct CallerLayer {
    rules: Arc<Rules>,
}

#[derive(Clone)]
struct Rules {
    addresses: Addresses,
    lookup: Option<Lookup>,
    lookup_timeout: Duration,
    anonymous: Option<AnonymousIds>,
    identified_tier: Arc<str>,
    anonymous_tier: Arc<str>,
}

impl CallerLayer {
    /// Resolves callers by their address alone.
    #[must_use]
    pub fn new(addresses: Addresses) -> Self {
        let rules = Rules {
            addresses,
            lookup: None,
            // Far more than a look-up by key takes, and little enough to be waited for.
            lookup_timeout: Duration::from_secs(1),
            anonymous: None,
            identified_tier: "default".into(),
            anonymous_tier: "free".into(),
        };
        Self { rules: Arc::new(rules) }
    }

    /// Sets how the credentials in a request's head become an identity; `None` where there are none, or none that
    /// are valid. Default: nobody is identified.
    ///
    /// A look-up that fails, or takes too long, is logged, and the caller counts as one without credentials: what
    /// cannot be checked must not give more, and no outage of the look-up answers requests.
    ///
    /// The look-up comes before every limit further in, and right credentials are not held up where the quota of
    /// their address is used up: whoever guesses is told by that. Where credentials can be guessed, limit all
    /// requests by address in front of the look-up:
    ///
    /// ```
    /// # use forebay::{http::{Addresses, CallerLayer, Identity, RateLimitLayer, Whose}, limiter::Limiter};
    /// # async fn find() -> Result<Option<Identity>, std::io::Error> { Ok(None) }
    /// # fn layers(all_by_address: Limiter, api: Limiter) {
    /// tower::ServiceBuilder::new()
    ///     .layer(CallerLayer::new(Addresses::new()))
    ///     .layer(RateLimitLayer::new(all_by_address).by([Whose::address()]))
    ///     .layer(CallerLayer::new(Addresses::new()).lookup(|head| find()))
    ///     .layer(RateLimitLayer::new(api));
    /// # }
    /// ```
    #[must_use]
    pub fn lookup<F, Fut, E>(self, lookup: F) -> Self
    where
        F: Fn(&Parts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<Identity>, E>> + Send + 'static,
        E: Into<Failure> + 'static,
    {
        let boxed = move |head: &Parts| -> Found {
            let found = lookup(head);
            Box::pin(async { found.await.map_err(Into::into) })
        };
        self.with(|rules| rules.lookup = Some(Arc::new(boxed)))
    }

    /// Sets how long a look-up may take. Default: 1 s.
    #[must_use]
    pub fn lookup_timeout(self, span: Duration) -> Self {
        self.with(|rules| rules.lookup_timeout = span)
    }

    /// Gives visitors who are not identified a signed id. Default: they count as their address.
    #[must_use]
    pub fn anonymous(self, ids: AnonymousIds) -> Self {
        self.with(|rules| rules.anonymous = Some(ids))
    }

    /// Sets the tier of users and keys whose record has none. Default: `default`.
    #[must_use]
    pub fn identified_tier(self, tier: impl Into<Arc<str>>) -> Self {
        self.with(|rules| rules.identified_tier = tier.into())
    }

    /// Sets the tier of addresses and anonymous visitors. Default: `free`.
    #[must_use]
    pub fn anonymous_tier(self, tier: impl Into<Arc<str>>) -> Self {
        self.with(|rules| rules.anonymous_tier = tier.into())
    }

    fn with(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        change(Arc::make_mut(&mut self.rules));
        self
    }
}

impl Rules {
    /// Finds out who is asking, and makes the cookie that the answer shall bring.
    async fn resolve(&self, head: &Parts) -> (Caller, Option<HeaderValue>) {
        let caller = Caller::at(self.place(head));
        if let Some(identity) = self.identity(head).await {
            return (caller.identified(identity), None);
        }
        let Some(ids) = &self.anonymous else { return (caller, None) };
        match ids.find(&head.headers) {
            Some(id) => (caller.visiting(&id), None),
            None => (caller, Some(ids.issue())),
        }
    }

    fn place(&self, head: &Parts) -> Place {
        let peer = Peer::of(&head.extensions);
        let ip = self.addresses.client(peer.map(Peer::ip), &head.headers);
        if ip.is_none() {
            warn_once();
        }
        Place {
            ip,
            prefix: self.addresses.prefix(),
            tier: self.anonymous_tier.clone(),
            identified_tier: self.identified_tier.clone(),
        }
    }

    async fn identity(&self, head: &Parts) -> Option<Identity> {
        let found = self.lookup.as_ref()?(head);
        match clock::within(self.lookup_timeout, found).await {
            Some(Ok(identity)) => identity,
            Some(Err(error)) => {
                tracing::warn!(error = &*error, "the look-up of a caller failed; it counts as anonymous");
                None
            }
            None => {
                let timeout_ms = self.lookup_timeout.as_millis();
                tracing::warn!(timeout_ms, "the look-up of a caller took too long; it counts as anonymous");
                None
            }
        }
    }
}

// P9: a server without such information answered every request with 500.
fn warn_once() {
    static WARNED: std::sync::Once = std::sync::Once::new();
    WARNED.call_once(|| {
        tracing::warn!(
            "a request has no address: serve with into_make_service_with_connect_info, or insert a Peer; \
             until then such callers share one quota"
        );
    });
}

impl fmt::Debug for CallerLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerLayer")
            .field("addresses", &self.rules.addresses)
            .field("lookup", &self.rules.lookup.is_some())
            .field("anonymous", &self.rules.anonymous)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for CallerLayer {
    type Service = CallerService<S>;

    fn layer(&self, inner: S) -> CallerService<S> {
        CallerService { inner, rules: self.rules.clone() }
    }
}

/// The service of a [`CallerLayer`].
#[derive(Clone)]
pub struct CallerService<S> {
    inner: S,
    rules: Arc<Rules>,
}

impl<S: fmt::Debug> fmt::Debug for CallerService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B, R> Service<Request<B>> for CallerService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
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
        let rules = self.rules.clone();
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            let (caller, cookie) = rules.resolve(&head).await;
            head.extensions.insert(caller);
            let mut response = inner.call(Request::from_parts(head, body)).await?;
            let failed = response.status().is_client_error() || response.status().is_server_error();
            if let Some(cookie) = cookie.filter(|_| !failed) {
                anonymous::bring(cookie, response.headers_mut());
            }
            Ok(response)
        })
    }
}
