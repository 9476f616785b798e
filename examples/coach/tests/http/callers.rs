//! Apps have keys, and each tier of them its limits.

use reqwest::Method;
use serde_json::json;

use crate::{
    answer::Answer,
    program::{Coach, Model, Start},
    records::Records,
};

/// An ask with these headers alone.
async fn ask_as(coach: &Coach, headers: &[(&str, &str)]) -> Answer {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let call = client.request(Method::POST, format!("{}/ask", coach.process.base));
    let call = headers.iter().fold(call, |call, (name, value)| call.header(*name, *value));
    Answer::to(call.json(&json!({ "question": "How fast?" }))).await.unwrap()
}

#[tokio::test]
async fn the_twenty_first_call_of_the_free_app_in_a_minute_is_refused() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let free = [("x-api-key", "demo-free"), ("x-user", "runner-7")];
    for _ in 0..20 {
        assert_eq!(ask_as(&coach, &free).await.status, 200);
    }
    let refused = ask_as(&coach, &free).await;
    assert!(refused.status == 429 && (1..=120).contains(&refused.retry_after()), "{refused:?}");
    let pro = [("authorization", "Bearer demo-pro"), ("x-user", "runner-7")];
    assert_eq!(ask_as(&coach, &pro).await.header("x-ratelimit-limit"), "600");
}

#[tokio::test]
async fn a_key_that_nobody_has_is_told_so() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    for headers in [&[("x-user", "runner-7")][..], &[("x-user", "runner-7"), ("x-api-key", "guess")]] {
        assert_eq!(ask_as(&coach, headers).await.status, 401);
    }
    assert_eq!(model.calls().await, 0);
}

#[tokio::test]
async fn an_app_must_say_for_whom_it_asks() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let refused = ask_as(&coach, &[("x-api-key", "demo-pro")]).await;
    assert!(refused.status == 400 && refused.text("detail").contains("X-User: runner-7"), "{refused:?}");
}
