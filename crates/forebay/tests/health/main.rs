//! What a `Forebay` tells of its Redis, and finds among its keys. Real servers, real time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ailing;
mod doctor;
mod figures;
mod samples;

use std::time::Duration;

use forebay::{
    Forebay,
    health::{Health, RedisHealth},
    status::Status,
};

/// The figures are asked for once a second at most.
const ANEW: Duration = Duration::from_millis(1_050);

const PATIENCE: Duration = Duration::from_secs(10);

/// One that is connected, and patient: how long a busy machine takes is no part of the tests.
async fn on(url: &str) -> Forebay {
    let forebay =
        Forebay::builder("shop").redis(url).redis_budget(Duration::from_secs(5)).build().await.unwrap();
    let usable = || matches!(forebay.status(), Status::Redis(redis) if redis.usable);
    let connected = async {
        while !usable() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, connected).await.expect("Redis can be used");
    forebay
}

async fn health(forebay: &Forebay) -> RedisHealth {
    match forebay.health().await {
        Health::Redis(health) => *health,
        other => panic!("no Redis: {other:?}"),
    }
}
