//! A shop with a server of its own, whose handlers do as they are told and count what they do.

use std::{
    collections::HashMap,
    convert::Infallible,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use axum::{
    Extension, Router,
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use forebay::{
    Forebay, Subject,
    clock::Clock,
    http::{Addresses, CallerLayer, Effect, IdempotencyLayer},
    once::Idempotency,
};
use http_body_util::BodyExt;
use reqwest::{Client, RequestBuilder};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};

/// More than a busy machine needs for anything that has to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A server, and somebody who sends it requests.
pub(crate) struct Shop {
    pub(crate) forebay: Forebay,
    pub(crate) desk: Desk,
    client: Client,
    url: String,
    server: JoinHandle<()>,
}

/// What handlers see of the test.
#[derive(Clone)]
pub(crate) struct Desk {
    /// How often something was paid.
    runs: Arc<AtomicUsize>,
    /// How many payments may end.
    pub(crate) open: Arc<Semaphore>,
    /// The pieces of the next answer that comes in pieces.
    pieces: Arc<std::sync::Mutex<Option<mpsc::Receiver<Piece>>>>,
}

type Piece = Result<Bytes, std::io::Error>;

/// An answer, as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Shop {
    pub(crate) async fn new() -> Self {
        Self::with(|layer| layer).await
    }

    /// On the memory store, with options of its own.
    pub(crate) async fn with(options: impl FnOnce(IdempotencyLayer) -> IdempotencyLayer) -> Self {
        let forebay = Forebay::builder("shop").memory().build().await.unwrap();
        let payments = forebay.idempotency().build().unwrap();
        Self::over(forebay, payments, options).await
    }

    pub(crate) async fn over(
        forebay: Forebay,
        payments: Idempotency,
        options: impl FnOnce(IdempotencyLayer) -> IdempotencyLayer,
    ) -> Self {
        let desk = Desk { runs: Arc::default(), open: Arc::new(Semaphore::new(0)), pieces: Arc::default() };
        desk.open.add_permits(Semaphore::MAX_PERMITS / 2);
        let router = router(desk.clone()).layer(options(IdempotencyLayer::new(payments)));
        let router = Router::new().nest("/v1", router.clone()).merge(router);
        let router = router.layer(CallerLayer::new(Addresses::new()).lookup(|head| {
            let user = head.headers.get("user").map(|user| Subject::user(user.to_str().unwrap()).into());
            ready(Ok::<_, Infallible>(user))
        }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { forebay, desk, client: Client::new(), url, server }
    }

    /// A POST request of user 42.
    pub(crate) fn request(&self, path: &str, key: &str) -> RequestBuilder {
        self.anonymous(path, key).header("user", "42")
    }

    /// A POST request of nobody in particular.
    pub(crate) fn anonymous(&self, path: &str, key: &str) -> RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.url)).body("12 EUR");
        if key.is_empty() { request } else { request.header("idempotency-key", key) }
    }

    pub(crate) async fn post(&self, path: &str, key: &str) -> Seen {
        seen(self.request(path, key)).await
    }

    /// How often something was paid.
    pub(crate) fn runs(&self) -> usize {
        self.desk.runs.load(SeqCst)
    }

    /// Has payments wait until the test lets them go on.
    pub(crate) fn close(&self) {
        self.desk.open.forget_permits(Semaphore::MAX_PERMITS);
    }

    /// Gives out what the next answer in pieces is made of.
    pub(crate) fn pieces(&self) -> mpsc::Sender<Piece> {
        let (sender, receiver) = mpsc::channel(1);
        *self.desk.pieces.lock().unwrap() = Some(receiver);
        sender
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.server.abort();
    }
}

pub(crate) async fn seen(request: RequestBuilder) -> Seen {
    read(request.send().await.unwrap()).await
}

pub(crate) async fn read(response: reqwest::Response) -> Seen {
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let (status, headers) = (response.status().as_u16(), headers.collect());
    Seen { status, headers, body: response.text().await.unwrap() }
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn is_replayed(&self) -> bool {
        self.header("idempotent-replayed") == "true"
    }

    /// The last part of the problem's type, beside the status.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        assert_eq!(self.header("cache-control"), "no-store");
        let problem: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["status"], self.status);
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        let r#type = problem["type"].as_str().unwrap();
        (self.status, r#type.strip_prefix("https://forebay.dev/problems/").unwrap().to_owned())
    }
}

/// Waits until `fact` holds.
pub(crate) async fn until(fact: impl Fn() -> bool) {
    let waiting = async {
        while !fact() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    Clock::real().timeout(PATIENCE, waiting).await.expect("it does not come true");
}

fn router(desk: Desk) -> Router {
    Router::new()
        .route("/payments", post(pay).put(pay).get(pay))
        .route("/payments/{id}", post(pay))
        .route("/answers/{status}", post(answer))
        .route("/pieces", post(in_pieces))
        .route("/panics", post(panics))
        .with_state(desk)
}

async fn pay(State(desk): State<Desk>, body: Bytes) -> impl IntoResponse {
    let run = desk.runs.fetch_add(1, SeqCst) + 1;
    desk.open.acquire().await.unwrap().forget();
    let headers = [
        ("location", "/payments/1"),
        ("content-type", "text/plain"),
        ("etag", "\"1\""),
        ("set-cookie", "session=secret"),
        ("x-own", "own"),
    ];
    (StatusCode::CREATED, headers, format!("payment {run}: {}", String::from_utf8(body.to_vec()).unwrap()))
}

/// Answers with a status, and an effect if the request names one.
async fn answer(State(desk): State<Desk>, Path(status): Path<u16>, headers: HeaderMap) -> Response {
    desk.runs.fetch_add(1, SeqCst);
    let status = StatusCode::from_u16(status).unwrap();
    match headers.get("effect").map(http::HeaderValue::as_bytes) {
        Some(b"done") => (status, Extension(Effect::Done), "an answer").into_response(),
        Some(_) => (status, Extension(Effect::None), "an answer").into_response(),
        None => (status, "an answer").into_response(),
    }
}

async fn in_pieces(State(desk): State<Desk>) -> Body {
    desk.runs.fetch_add(1, SeqCst);
    let mut pieces = desk.pieces.lock().unwrap().take().unwrap();
    Body::from_stream(futures::stream::poll_fn(move |context| pieces.poll_recv(context)))
}

async fn panics(State(desk): State<Desk>, body: Body) -> String {
    let run = desk.runs.fetch_add(1, SeqCst);
    let body = body.collect().await.unwrap().to_bytes();
    panic!("run {run}, {} bytes", body.len());
}
