//! What else an application asks for, so that every part of the page has something to show.

use std::time::Duration;

use rand::RngExt;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cli::{Failure, client::Client};

const PAUSE: Duration = Duration::from_millis(250);

/// Goes on for ever. What fails while Redis is away is no business of anybody's.
pub(super) async fn run(client: &Client) {
    loop {
        sleep(PAUSE).await;
        once(client).await.ok();
    }
}

async fn once(client: &Client) -> Result<(), Failure> {
    // The lower the number the more often, so that some of them meet their limit.
    let user = rand::rng().random_range(0.0..5.0_f64).powi(2) as u32;
    let subject = format!("user:{user}");
    post(client, &["v1", "limits", "api"], &json!({ "subject": subject, "tier": "free" })).await?;
    post(client, &["v1", "unique", "site"], &json!({ "ids": [format!("visitor:{}", user * 7)] })).await?;
    post(client, &["v1", "locks", "nightly-report"], &json!({ "ttl_ms": 1_000 })).await
}

async fn post(client: &Client, path: &[&str], body: &Value) -> Result<(), Failure> {
    client.ask(client.request(Method::POST, path)?.json(body)).await.map(drop)
}
