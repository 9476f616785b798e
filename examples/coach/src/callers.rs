//! Who calls, and how much they may: an app by its API key, whose tier has its limits, for the runner it names.

use std::time::Duration;

use anyhow::Result;
use axum::{
    extract::{FromRequestParts, Request},
    http::{HeaderMap, HeaderValue, header::AUTHORIZATION, request::Parts},
    middleware::Next,
    response::Response,
};
use forebay::{
    Forebay, Subject,
    cache::{Cache, LoadError},
    http::{Addresses, Caller, CallerLayer, Identity, RateLimitLayer, Whose},
    limiter::{Mode, Tiers},
};

use crate::{
    problem::Problem,
    store::{App, Store},
};

/// The keys of a new file: what an app sends, its name and its tier.
pub(crate) const DEMO: [(&str, &str, &str); 4] = [
    ("demo-free", "jogger", "free"),
    ("demo-pro", "marathon", "pro"),
    ("demo-partner", "stadium", "partner"),
    ("demo-ops", "operator", OPERATORS),
];

/// The tier that may see the figures.
const OPERATORS: &str = "ops";

/// In which an app names the runner that it speaks for.
pub(crate) const USER: &str = "x-user";

/// The layers that everything else lies behind.
pub(crate) struct Callers {
    /// Finds out which app calls, or from which address.
    pub(crate) known: CallerLayer,
    /// Takes from the quota of the app, or of the address.
    pub(crate) limited: RateLimitLayer,
    /// Takes from the quota of the address, whatever key is sent: codes are asked for no faster with many keys.
    pub(crate) sign_in: RateLimitLayer,
}

impl Callers {
    pub(crate) fn new(forebay: &Forebay, store: &Store) -> Result<Self> {
        let apps = forebay
            .cache::<App>("app", Duration::from_secs(60))
            .stale_for(Duration::from_secs(3600))
            .absent_for(Duration::from_secs(10))
            .build()?;
        let tiers = Tiers::new()
            .tier("free", ["20/minute", "200/hour"])?
            .tier("pro", ["600/minute"])?
            .unlimited("partner")?
            .unlimited(OPERATORS)?;
        // A log, as it lets the sixth in the very instant that it may.
        let sign_in = forebay.limiter("sign-in", Tiers::new().tier("free", ["5/minute"])?).mode(Mode::Log);
        let store = store.clone();
        let identity = move |head: &Parts| identity(apps.clone(), store.clone(), shown(&head.headers));
        Ok(Self {
            known: CallerLayer::new(Addresses::new()).lookup(identity),
            limited: RateLimitLayer::new(forebay.limiter("api", tiers).build()?),
            sign_in: RateLimitLayer::new(sign_in.build()?).by([Whose::address()]),
        })
    }
}

/// Whose key it is. The database is asked once a minute for each.
async fn identity(
    apps: Cache<App>,
    store: Store,
    key: Option<String>,
) -> Result<Option<Identity>, LoadError<sqlx::Error>> {
    let Some(key) = key else { return Ok(None) };
    let app = apps.find_or_load(hash(&key), async move |load| store.app(load.id()).await).await?;
    Ok(app.map(|app| Identity::new(Subject::key(&app.name)).tier(&*app.tier)))
}

/// The key in `X-Api-Key`, or in `Authorization: Bearer`.
fn shown(headers: &HeaderMap) -> Option<String> {
    let key = headers.get("x-api-key").and_then(|value| value.to_str().ok());
    let bearer = || headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ");
    key.or_else(bearer).map(str::to_owned)
}

/// What the database, and Redis, know of a key.
pub(crate) fn hash(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex().to_string()
}

/// From here on the caller is the runner whom an app speaks for: who counts as a visitor, and whose idempotency keys are
/// his own.
pub(crate) async fn speak_for_runner(mut request: Request, next: Next) -> Response {
    let app = request.extensions().get::<Caller>().filter(|caller| is_app(caller));
    let runner = app
        .zip(named(request.headers()))
        .map(|(app, runner)| app.identified(Identity::new(Subject::user(runner)).tier(app.tier())));
    if let Some(runner) = runner {
        request.extensions_mut().insert(runner);
    }
    next.run(request).await
}

/// The runner whom a request names.
pub(crate) fn named(headers: &HeaderMap) -> Option<&str> {
    headers.get(USER).map(HeaderValue::to_str)?.ok().filter(|name| !name.is_empty() && name.len() <= 64)
}

fn is_app(caller: &Caller) -> bool {
    *caller.subject() != caller.address()
}

/// Lets pass who has an API key.
pub(crate) struct Known;

impl<S: Sync> FromRequestParts<S> for Known {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(caller) = <Caller as FromRequestParts<S>>::from_request_parts(head, state).await;
        if is_app(&caller) { Ok(Self) } else { Err(Problem::nobody()) }
    }
}

/// Lets pass who may see the figures.
pub(crate) struct Operator;

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Known = Known::from_request_parts(head, state).await?;
        let Ok(caller) = <Caller as FromRequestParts<S>>::from_request_parts(head, state).await;
        if caller.tier() == OPERATORS { Ok(Self) } else { Err(Problem::no_operator()) }
    }
}
