//! A space whose memory is told of what other programs write.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::support::{Answered, Stage};

const PATIENCE: Duration = Duration::from_secs(10);
const VALUE: &str = "/v1/cache/told/a";

/// Waits until `path` is answered with `status`.
async fn until(stage: &Stage, path: &str, status: u16) {
    let asking = async {
        while Answered::to(stage.here.get(path)).await.status != status {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("{path} is never {status}"));
}

#[tokio::test]
async fn what_another_program_deletes_is_gone_from_a_space_with_tracking() {
    let stage = Stage::redis("[cache.spaces.told]\ncoherence = \"tracking\"").await;
    let redis = stage.redis.as_ref().unwrap();
    assert_eq!(Answered::to(stage.here.put(&format!("{VALUE}?ttl_ms=60000"), "A")).await.status, 204);
    until(&stage, VALUE, 200).await;
    assert_eq!(redis.call(&["DEL", &redis.call(&["KEYS", "cache:*"])]), "1");
    until(&stage, VALUE, 404).await;
    let ready = Answered::to(stage.here.get("/readyz?verbose=1")).await.json();
    assert_eq!(ready["components"]["tracking"]["tracks"], true, "{ready}");
}
