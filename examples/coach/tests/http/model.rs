//! Models that answer as none should, or not at all.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use axum::{Json, Router, routing::post};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::sleep};

use crate::{
    process::Process,
    program::{self, Coach},
    records::Records,
};

fn said(content: &Value) -> Value {
    json!({ "choices": [{ "message": { "content": content } }] })
}

/// Serves a model at the path that all models have, and returns where.
async fn serve<F: Future<Output = Json<Value>> + Send + 'static>(
    answer: impl FnOnce() -> F + Clone + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let model = Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, model).await });
    base
}

fn start(records: &Records, model_url: &str, flags: &[&str]) -> Coach {
    let mut command = program::coach(records);
    Coach::of(Process::start(command.args(["--model-url", model_url]).args(flags)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_answer_is_kept_by_nobody() {
    let odd = [
        said(&json!("")),
        said(&json!(" \n ")),
        said(&Value::Null),
        json!({ "choices": [{ "message": {} }] }),
        json!({ "choices": [] }),
        json!({ "error": "overloaded" }),
        said(&json!("far ".repeat(1 << 19))),
    ];
    for answer in odd {
        let (records, told) = (Records::none(), answer.clone());
        let coach = start(&records, &serve(async || Json(told)).await, &[]);
        let refused = coach.ask("runner-7", "How fast?").await;
        let shown: String = answer.to_string().chars().take(60).collect();
        assert_eq!((refused.status, refused.retry_after()), (503, 1), "{shown}");
        assert_eq!(coach.plan("runner-7").await.status, 503, "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_path_of_a_model_is_found_however_much_of_it_is_given() {
    let base = serve(async || Json(said(&json!("Run easy.")))).await;
    for path in ["", "/", "/v1", "/v1/", "/v1/chat/completions"] {
        let records = Records::none();
        let coach = start(&records, &format!("{base}{path}"), &[]);
        assert_eq!(coach.ask("runner-7", "How fast?").await.status, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_could_have_an_old_answer_does_not_wait_for_a_model_that_hangs() {
    let hangs = Arc::new(AtomicBool::new(false));
    let answer = {
        let hangs = hangs.clone();
        async move || {
            if hangs.load(SeqCst) {
                pending::<()>().await;
            }
            Json(said(&json!("Run easy.")))
        }
    };
    let records = Records::none();
    let coach = start(&records, &serve(answer).await, &["--fresh-for", "1"]);
    assert_eq!(coach.ask("runner-7", "How fast?").await.text("source"), "model");
    hangs.store(true, SeqCst);
    // What was fresh for a second, and a tenth by jitter, is not any more.
    sleep(Duration::from_millis(1200)).await;
    let asked = coach.ask("runner-7", "How fast?");
    // Well before the call of the model ends by itself, which takes 25 s.
    let old = tokio::time::timeout(Duration::from_secs(20), asked).await.unwrap();
    assert_eq!((old.status, old.text("source"), old.body["degraded"].as_bool()), (200, "stale", Some(true)));
}
