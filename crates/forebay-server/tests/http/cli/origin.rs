//! An origin over HTTP that counts its calls, and can hold its answers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use tokio::{net::TcpListener, sync::Semaphore};

#[derive(Clone)]
pub(super) struct Origin {
    address: String,
    state: Arc<Calls>,
}

struct Calls {
    by_id: Mutex<HashMap<String, usize>>,
    under_way: Mutex<(usize, usize)>,
    let_go: Semaphore,
}

impl Origin {
    /// One that answers so many calls, and holds the others.
    pub(super) async fn answering(calls: usize) -> Self {
        let state = Arc::new(Calls {
            by_id: Mutex::default(),
            under_way: Mutex::default(),
            let_go: Semaphore::new(calls),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let router = Router::new().route("/items/{id}", get(item)).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, state }
    }

    pub(super) async fn ready() -> Self {
        Self::answering(Semaphore::MAX_PERMITS).await
    }

    /// Where it has a value.
    pub(super) fn template(&self) -> String {
        format!("http://{}/items/{{id}}", self.address)
    }

    /// How often each id was asked for.
    pub(super) fn calls(&self) -> HashMap<String, usize> {
        self.state.by_id.lock().unwrap().clone()
    }

    /// How many calls were under way at most at a time.
    pub(super) fn most(&self) -> usize {
        self.state.under_way.lock().unwrap().1
    }

    /// Lets so many more answer.
    pub(super) fn let_go(&self, calls: usize) {
        self.state.let_go.add_permits(calls);
    }
}

/// Has everything but what is called `none…`, fails for `broken`, and has much for `large`.
async fn item(State(calls): State<Arc<Calls>>, Path(id): Path<String>) -> Response {
    *calls.by_id.lock().unwrap().entry(id.clone()).or_default() += 1;
    {
        let mut under_way = calls.under_way.lock().unwrap();
        under_way.0 += 1;
        under_way.1 = under_way.1.max(under_way.0);
    }
    calls.let_go.acquire().await.unwrap().forget();
    calls.under_way.lock().unwrap().0 -= 1;
    match id.as_str() {
        "broken" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        "large" => "x".repeat(2_000).into_response(),
        id if id.starts_with("none") => StatusCode::NOT_FOUND.into_response(),
        id => ([("content-type", "text/plain")], format!("value of {id}")).into_response(),
    }
}
