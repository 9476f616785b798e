//! `/v1/batch/cache/{space}`: a call on many ids of a space at once, each answered as by the call for it alone.

mod items;

use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use axum::{
    body::{Body, to_bytes},
    extract::{Extension, State},
    http::{
        HeaderMap, HeaderName, Uri,
        header::{AGE, CONTENT_TYPE, ETAG},
    },
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, StreamExt},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use self::items::{Entry, Held, Looked, LookedFields, Named, Renewed, RenewedFields, Written};
use crate::{
    api::{
        answer::{self, CACHE_STATUS, FOREBAY_CACHE},
        cache, lease,
    },
    app::Shared,
    error::{Kind, Problem},
    extract::{self, BatchSpace, FOREBAY_LEASE, Query},
    middleware::RequestId,
    spaces::Space,
};

/// How many ids one request may name.
const MOST: usize = 1_000;

/// How many are under way at a time: more would hold up other requests. All leases are, as those who wait for one let
/// the others be.
const AT_A_TIME: usize = 64;

/// How many bytes of values one answer has at most, before they are spelled in base64.
const LARGEST: usize = 16 << 20;

/// What an item answers: a single call's answer, or why there is none.
type Answered = Result<Response, Problem>;

/// The calls, by the one member of the body.
const CALLS: &str = "`get`, `lease`, `put`, `fill`, `renew`, `release` or `invalidate`";

/// The body: one of these calls, and its items.
#[derive(ToSchema)]
#[schema(as = Batch, min_properties = 1, max_properties = 1, example = json!({ "get": [{ "id": "greeting" }] }))]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "it is only described: items are read one by one, so that each is refused alone"
)]
struct Calls {
    #[schema(min_items = 1, max_items = 1000, nullable = false)]
    get: Option<Vec<Named>>,
    #[schema(min_items = 1, max_items = 1000, nullable = false)]
    lease: Option<Vec<LookedFields>>,
    #[schema(min_items = 1, max_items = 1000, nullable = false)]
    put: Option<Vec<Written>>,
    #[schema(min_items = 1, max_items = 1000, nullable = false)]
    fill: Option<Vec<Written>>,
    #[schema(min_items = 1, max_items = 1000, nullable = false)]
    renew: Option<Vec<RenewedFields>>,
    #[schema(min_items = 1, max_items = 1000, nullable = false)]
    release: Option<Vec<Held>>,
    #[schema(min_items = 1, max_items = 1000, nullable = false)]
    invalidate: Option<Vec<Named>>,
}

/// What an item is told: its status, and what the single call would have said in headers and body.
#[derive(ToSchema)]
#[schema(as = BatchAnswer)]
#[expect(dead_code, reason = "it is only described: its members are put together from an answer")]
struct Answer {
    status: u16,
    id: Option<String>,
    /// The bytes, in base64.
    value: Option<String>,
    content_type: Option<String>,
    age: Option<u64>,
    etag: Option<String>,
    cache_status: Option<String>,
    forebay_cache: Option<String>,
    lease: Option<String>,
    lease_ms: Option<u64>,
    /// Of a refusal, as are `title`, `detail` and the others.
    r#type: Option<String>,
}

/// Makes the call that the body names, for each of its items.
#[utoipa::path(
    post, path = "/v1/batch/cache/{space}", tag = "batch",
    request_body(content = Calls, description = "One call, and up to 1,000 different ids"),
    responses(
        (status = 200, description = "Each in its place, as it would have been told alone", body = Vec<Answer>),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader]))),
)]
pub(crate) async fn call(
    State(app): State<Shared>,
    Extension(id): Extension<RequestId>,
    BatchSpace(name): BatchSpace,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    let (call, items) = extract::call(body, MOST, CALLS).await?;
    let batch = Batch { app: &app, request_id: id.as_str(), room: AtomicUsize::new(LARGEST) };
    let (batch, made, known) = (&batch, || app.spaces.made(&name), || app.spaces.known(&name));
    let answers = match call.as_str() {
        "get" => {
            let space = &known()?;
            batch.each(items, AT_A_TIME, |item| batch.get(space.as_ref(), item).boxed()).await
        }
        "lease" => {
            let space = &made()?;
            batch.each(items, MOST, |item| batch.lease(space, item).boxed()).await
        }
        "put" => {
            let space = &made()?;
            batch.each(items, AT_A_TIME, |item| put(space, item).boxed()).await
        }
        "fill" => {
            let space = &made()?;
            batch.each(items, AT_A_TIME, |item| fill(space, item).boxed()).await
        }
        "renew" => {
            let space = &known()?;
            batch.each(items, AT_A_TIME, |item| renew(space.as_ref(), item).boxed()).await
        }
        "release" => {
            let space = &known()?;
            batch.each(items, AT_A_TIME, |item| release(space.as_ref(), item).boxed()).await
        }
        "invalidate" => {
            let space = &known()?;
            batch.each(items, AT_A_TIME, |item| forget(space.as_ref(), item).boxed()).await
        }
        other => return Err(extract::no_call(other, CALLS)),
    };
    Ok(answer::json(&answers))
}

/// What the items of one request share.
struct Batch<'a> {
    app: &'a Shared,
    request_id: &'a str,
    /// How many bytes of values the answer still takes.
    room: AtomicUsize,
}

impl Batch<'_> {
    /// Answers each item in its place. An id that was there before is refused: which of the two comes first would be
    /// left to chance.
    async fn each<'a, T: DeserializeOwned + Entry>(
        &'a self,
        items: Vec<Value>,
        at_a_time: usize,
        work: impl Fn(T) -> BoxFuture<'a, Answered>,
    ) -> Vec<Value> {
        let mut ids = HashSet::new();
        let items = items.into_iter().enumerate().map(|(place, item)| {
            let id = item.get("id").and_then(Value::as_str).map(ToOwned::to_owned);
            let item = extract::item::<T>(place, item).and_then(|item| {
                let is_first = ids.insert(item.id().to_owned());
                if is_first { Ok(item) } else { Err(named_before(place)) }
            });
            (id, item)
        });
        let items: Vec<(Option<String>, Result<T, Problem>)> = items.collect();
        let answers = items.into_iter().map(|(id, item)| match item {
            Ok(item) => {
                let answer = work(item);
                async move { self.told(id, answer.await).await }.boxed()
            }
            Err(problem) => self.told(id, Err(problem)).boxed(),
        });
        let answers: Vec<BoxFuture<'a, Value>> = answers.collect();
        stream::iter(answers).buffered(at_a_time).collect().await
    }

    async fn get(&self, space: Option<&Space>, item: Named) -> Answered {
        // What will not be told need not be read.
        if self.room.load(Relaxed) == 0 { Err(full()) } else { Ok(cache::look(space, &item.id).await) }
    }

    async fn lease(&self, space: &Space, item: Looked) -> Answered {
        lease::look_up(self.app, space, &item.id, item.asked).await
    }

    /// An answer as an item: its status, what its headers tell, and its body.
    async fn told(&self, id: Option<String>, answer: Answered) -> Value {
        let response = answer.unwrap_or_else(Problem::into_response);
        let mut told = match response.extensions().get::<Problem>() {
            Some(problem) => problem.value(self.request_id),
            None => Value::Object(self.value(response).await),
        };
        if let Some(id) = id {
            told["id"] = id.into();
        }
        told
    }

    async fn value(&self, response: Response) -> Map<String, Value> {
        let mut told = Map::from_iter([("status".to_owned(), response.status().as_u16().into())]);
        let (parts, body) = response.into_parts();
        let text = |name: HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let number = |name: HeaderName| text(name).and_then(|text| text.parse::<u64>().ok());
        let texts = [
            ("etag", text(ETAG)),
            ("cache_status", text(CACHE_STATUS)),
            ("forebay_cache", text(FOREBAY_CACHE)),
            ("lease", text(FOREBAY_LEASE)),
        ];
        told.extend(texts.iter().filter_map(|(name, text)| Some(((*name).to_owned(), (*text)?.into()))));
        let numbers = [("age", number(AGE)), ("lease_ms", number(lease::FOREBAY_LEASE_MS))];
        told.extend(numbers.iter().filter_map(|(name, n)| Some(((*name).to_owned(), (*n)?.into()))));
        // A body is in memory already.
        let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
        if parts.headers.contains_key(ETAG) {
            self.add_value(&mut told, text(CONTENT_TYPE), &bytes);
        } else if let Ok(Value::Object(members)) = serde_json::from_slice(&bytes) {
            told.extend(members);
        }
        told
    }

    /// Adds a value, if there is room: beside a lease it can be left out, otherwise it is refused.
    fn add_value(&self, told: &mut Map<String, Value>, content_type: Option<&str>, bytes: &[u8]) {
        let take = |room: usize| room.checked_sub(bytes.len());
        if self.room.fetch_update(Relaxed, Relaxed, take).is_ok() {
            told.insert("content_type".to_owned(), content_type.into());
            told.insert("value".to_owned(), STANDARD.encode(bytes).into());
            return;
        }
        self.room.store(0, Relaxed);
        if !told.contains_key("lease")
            && let Value::Object(problem) = full().value(self.request_id)
        {
            *told = problem;
        }
    }
}

async fn put(space: &Space, item: Written) -> Answered {
    item.without_lease()?;
    let id = item.id.clone();
    cache::put(space, &id, item.written(space)?).await
}

async fn fill(space: &Space, item: Written) -> Answered {
    let (id, token) = (item.id.clone(), item.token()?);
    lease::fill_in(space, &id, token, item.written(space)).await
}

async fn renew(space: Option<&Space>, item: Renewed) -> Answered {
    let token = items::token(&item.lease)?;
    lease::hold(space, &item.id, token, item.asked).await
}

async fn release(space: Option<&Space>, item: Held) -> Answered {
    let token = items::token(&item.lease)?;
    Ok(lease::end(space, &item.id, token, item.failed).await?.into_response())
}

async fn forget(space: Option<&Space>, item: Named) -> Answered {
    Ok(cache::forget(space, &item.id).await.into_response())
}

fn named_before(place: usize) -> Problem {
    let detail = format!("in the body, `[{place}].id` was named before; name each id once");
    Problem::new(Kind::InvalidBody, detail)
}

fn full() -> Problem {
    let detail =
        format!("one answer has at most {LARGEST} bytes of values; ask for this one in another request");
    Problem::new(Kind::TooLarge, detail)
}
