//! How long Redis keeps what is stored: never for ever, and never by what was there before.

use std::time::Duration;

use forebay::cache::{Filled, Loaded, Lookup, Refresh, Returned};

use crate::rig::{CLOCK, LIFE, Origin, Process, Rig, done, eventually, fill, lease_key, value_key};

const SECOND: Duration = Duration::from_secs(1);

/// The server keeps `key` for so many seconds, of which on a busy machine a few have passed.
fn is_kept_for(rig: &Rig, key: &str, seconds: i64) {
    let left = rig.redis.call(&["PTTL", key]).parse::<i64>().unwrap();
    assert!((seconds - 4) * 1_000 < left && left <= seconds * 1_000, "{key}: {left} ms, not {seconds} s");
}

// C48: nitro keeps what may be served stale without any end.
#[tokio::test]
async fn whatever_is_stored_has_its_end() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let builder = here.builder().stale_for(LIFE).refresh(Refresh::Stale).absent_for(SECOND * 9);
    let cache = builder.failure_for(SECOND * 5).lease(SECOND * 13).build().unwrap();
    fill(&cache, "loaded", "A").await;
    cache.put("put", "A".to_owned()).await.unwrap();
    cache.put_absent("absent").await.unwrap();
    for (id, seconds) in [("loaded", 120), ("put", 120), ("absent", 9)] {
        is_kept_for(&rig, &value_key(id), seconds);
    }
    let Lookup::Lease(held) = cache.lookup("held", LIFE).await else { panic!("nobody loads") };
    let Lookup::Lease(failed) = cache.lookup("failed", LIFE).await else { panic!("nobody loads") };
    assert_eq!(failed.fail().await, Returned::Done);
    is_kept_for(&rig, &lease_key("held"), 13);
    is_kept_for(&rig, &lease_key("failed"), 5);
    drop(held);
    cache.expire("loaded").await;
    is_kept_for(&rig, &value_key("loaded"), 60);
}

// C52: hitbox leaves the old end, and an old mark of staleness, on what is written over.
#[tokio::test]
async fn what_is_written_over_has_the_end_of_the_new() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let cache = here.builder().stale_for(LIFE).build().unwrap();
    for (life, kept) in [(SECOND * 40, 100), (SECOND * 20, 80), (SECOND * 50, 110)] {
        cache.put("a", Loaded::new("A".to_owned()).time_to_live(life)).await.unwrap();
        is_kept_for(&rig, &value_key("a"), kept);
        let short = Loaded::new("B".to_owned()).time_to_live(SECOND * 9).stale_for(Duration::ZERO);
        let Lookup::Lease(lease) = cache.fresh().lookup("a", LIFE).await else { panic!("nobody loads") };
        assert_eq!(lease.fill(short).await.unwrap(), Filled::Stored);
        is_kept_for(&rig, &value_key("a"), 9);
    }
}

// C50: FusionCache keeps what a background load gave although it failed.
#[tokio::test]
async fn a_refresh_that_fails_changes_neither_value_nor_end() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let space = |process: &Process| {
        let builder = process.forebay.cache::<String>("case", Duration::from_millis(50)).jitter(0.0);
        builder.stale_for(LIFE).refresh(Refresh::Stale).build().unwrap()
    };
    let (cache, other, origin) = (space(&here), space(&there), Origin::ready());
    fill(&cache, "a", "old").await;
    CLOCK.sleep(Duration::from_millis(100)).await;
    let stored = rig.redis.raw(&[b"GET", value_key("a").as_bytes()]);
    let before = rig.redis.call(&["PEXPIRETIME", &value_key("a")]);
    for reader in [&cache, &other] {
        assert_eq!(*done(origin.call(reader, "a", Err("down"))).await.unwrap().unwrap(), "old");
    }
    eventually(|| cache.stats().load_failures + other.stats().load_failures == 1).await;
    assert_eq!(rig.redis.raw(&[b"GET", value_key("a").as_bytes()]), stored);
    assert_eq!((rig.redis.call(&["PEXPIRETIME", &value_key("a")]), origin.calls()), (before, 1));
}
