//! A stand-in for a language model: it answers the same to the same, after as long as a model thinks, and counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

const ADVICE: [&str; 4] = [
    "Run easy four days of five, and hard on the fifth.",
    "Add no more than a tenth to your week.",
    "Two hard days need an easy one between them.",
    "Sleep first; the long run can wait until Sunday.",
];

/// What it was asked, and what that would have cost.
#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    failed: AtomicU64,
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
    /// How many have told it to fail, and are not over.
    failing: AtomicU64,
}

#[derive(Clone)]
struct StandIn {
    takes: Duration,
    counts: Arc<Counts>,
}

/// The routes of a stand-in that takes so long for an answer.
pub fn router(takes: Duration) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/figures", get(figures))
        .route("/fail", post(fail))
        .with_state(StandIn { takes, counts: Arc::default() })
}

#[derive(Deserialize)]
struct Request {
    messages: Vec<Message>,
}

#[derive(Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Serialize)]
struct Completion {
    object: &'static str,
    choices: [Choice; 1],
    usage: Usage,
}

#[derive(Serialize)]
struct Choice {
    index: u32,
    message: Message,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

async fn complete(State(model): State<StandIn>, Json(Request { messages }): Json<Request>) -> Response {
    let StandIn { takes, counts } = model;
    counts.calls.fetch_add(1, Relaxed);
    if counts.failing.load(Relaxed) > 0 {
        counts.failed.fetch_add(1, Relaxed);
        return (StatusCode::SERVICE_UNAVAILABLE, "the model is told to fail\n").into_response();
    }
    sleep(takes).await;
    let content = answer(&messages);
    let prompt_tokens = messages.iter().map(|message| tokens(&message.content)).sum();
    let completion_tokens = tokens(&content);
    counts.prompt_tokens.fetch_add(prompt_tokens, Relaxed);
    counts.completion_tokens.fetch_add(completion_tokens, Relaxed);
    let message = Message { role: "assistant".into(), content };
    Json(Completion {
        object: "chat.completion",
        choices: [Choice { index: 0, message, finish_reason: "stop" }],
        usage: Usage { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    })
    .into_response()
}

/// Some advice, and what it was told of the one whom it is for.
fn answer(messages: &[Message]) -> String {
    let said = messages.iter().map(|message| &*message.content).collect::<String>();
    let advice = ADVICE[usize::from(blake3::hash(said.as_bytes()).as_bytes()[0]) % ADVICE.len()];
    let told = messages.iter().find(|message| message.role == "system");
    told.map_or(advice.into(), |told| format!("{advice} I was told: {}", told.content))
}

/// About as many as a tokenizer would find: four characters are one.
fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

#[derive(Serialize)]
struct Figures {
    calls: u64,
    failed: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
}

async fn figures(State(StandIn { counts, .. }): State<StandIn>) -> Json<Figures> {
    Json(Figures {
        calls: counts.calls.load(Relaxed),
        failed: counts.failed.load(Relaxed),
        prompt_tokens: counts.prompt_tokens.load(Relaxed),
        completion_tokens: counts.completion_tokens.load(Relaxed),
    })
}

#[derive(Deserialize)]
struct Fail {
    seconds: u32,
}

/// Has it fail from now on, for so long.
async fn fail(
    State(StandIn { counts, .. }): State<StandIn>,
    Query(Fail { seconds }): Query<Fail>,
) -> StatusCode {
    counts.failing.fetch_add(1, Relaxed);
    tokio::spawn(async move {
        sleep(Duration::from_secs(seconds.into())).await;
        counts.failing.fetch_sub(1, Relaxed);
    });
    StatusCode::NO_CONTENT
}
