//! The server answers, and refuses: memory is full, it takes no writes, or it does not know us.

use std::{convert::Infallible, time::Duration};

use forebay::cache::{Invalidated, Load};
use forebay_rig::Redis;

use crate::{
    stage::Stage,
    timing::{least, pass, timed},
};

const A_WHILE: Duration = Duration::from_millis(800);

#[tokio::test]
async fn a_server_out_of_memory_harms_no_caller() {
    let stage = Stage::new().await;
    let fill = async {
        stage.call(&["CONFIG", "SET", "maxmemory", "1"]).await;
    };
    let heal = async {
        stage.call(&["CONFIG", "SET", "maxmemory", "0"]).await;
    };
    stage.survives(fill, A_WHILE, heal).await;
    stage.fill("a", "1").await;
}

#[tokio::test]
async fn a_server_out_of_memory_still_forgets() {
    let stage = Stage::new().await;
    stage.fill("a", "1").await;
    stage.call(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Everywhere);
    assert!(!stage.stores("a").await);
    stage.cache.put("a", "2".to_owned()).await.expect("a full server is no error");
    assert_eq!(stage.read("a", "3").await, "3");
}

#[tokio::test]
async fn a_server_that_becomes_a_replica_harms_no_caller() {
    let stage = Stage::new().await;
    let demote = async {
        stage.call(&["REPLICAOF", "127.0.0.1", "1"]).await;
    };
    let promote = async {
        stage.call(&["REPLICAOF", "NO", "ONE"]).await;
    };
    stage.survives(demote, A_WHILE, promote).await;
}

async fn load(_: Load<String>) -> Result<String, Infallible> {
    Ok("3".to_owned())
}

/// Reads, changes and reads again at a server that does not serve us.
async fn goes_on(url: &dyn Fn(&Redis) -> String, settings: &[&[&str]]) -> Stage {
    let redis = Redis::start();
    for setting in settings {
        assert_eq!(redis.call(setting), "OK");
    }
    let url = url(&redis);
    let stage = Stage::at(redis, url).await;
    pass(Duration::from_millis(200)).await;
    assert_eq!(stage.read("a", "1").await, "1");
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Deferred, "{:?}", stage.status());
    assert_eq!(stage.read("a", "2").await, "2");
    let took =
        least(Duration::from_millis(80), async || timed(stage.cache.fresh().get_or_load("a", load)).await.0)
            .await;
    assert!(took < Duration::from_millis(80), "{took:?}");
    stage
}

fn as_app(redis: &Redis) -> String {
    redis.url().replace("redis://", "redis://app:secret@")
}

#[tokio::test]
async fn a_password_that_is_missing_harms_no_caller() {
    let stage = goes_on(&Redis::url, &[&["CONFIG", "SET", "requirepass", "secret"]]).await;
    let reason = stage.status().reason.expect("it cannot be used");
    assert!(reason.contains("NOAUTH"), "{reason}");
    assert!((1..=2).contains(&stage.journal.lines()), "{} log lines", stage.journal.lines());
}

#[tokio::test]
async fn a_user_that_is_not_known_harms_no_caller() {
    let stage = goes_on(&as_app, &[]).await;
    let reason = stage.status().reason.expect("it cannot be used");
    assert!(reason.contains("WRONGPASS") && !reason.contains("secret"), "{reason}");
}

#[tokio::test]
async fn a_user_who_may_touch_no_key_of_ours_harms_no_caller() {
    let user = ["ACL", "SETUSER", "app", "on", ">secret", "~other:*", "&*", "+@all"];
    let stage = goes_on(&as_app, &[&user]).await;
    pass(Duration::from_secs(1)).await;
    assert!((1..=2).contains(&stage.journal.lines()), "{} log lines", stage.journal.lines());
}

#[tokio::test]
async fn a_user_who_may_use_no_channel_of_ours_harms_no_caller() {
    let user = ["ACL", "SETUSER", "app", "on", ">secret", "~*", "resetchannels", "+@all"];
    let stage = goes_on(&as_app, &[&user]).await;
    assert!(!stage.status().hears);
}

#[tokio::test]
async fn a_user_with_the_right_password_and_rights_is_served() {
    let redis = Redis::start();
    let rights = [
        "ACL",
        "SETUSER",
        "app",
        "on",
        ">secret",
        "~cache:*",
        "~lease:*",
        "~tags:*",
        "~tag:*",
        "&forebay:*",
        "+@all",
    ];
    assert_eq!(redis.call(&rights), "OK");
    let url = as_app(&redis);
    let stage = Stage::at(redis, url).await;
    stage.in_use().await;
    stage.fill("a", "1").await;
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Everywhere);
    assert!(!stage.stores("a").await);
}
