//! What one process changes while another loads: the late value is stored nowhere, and both serve the new one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use forebay_rig::Redis;
use forebay_trials::{
    crew,
    order::{Order, Origin, Outcome, Setup},
};
use tempfile::TempDir;

/// How long anything may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(10);

fn shown(outcome: &Outcome) -> u64 {
    match outcome {
        Outcome::Value { version, .. } => *version,
        other => panic!("no value but {other:?}"),
    }
}

fn load(ms: u64) -> Order {
    Order::Load { id: "a".into(), callers: 1, origin: Origin::Row { ms } }
}

/// Has the first process load while `change` of the other stores or forgets the new version.
async fn a_late_fill_is_refused(change: impl FnOnce(u64) -> Order) {
    let (redis, folder) = (Redis::start(), TempDir::new().unwrap());
    let database = Some(folder.path().join("rows"));
    // A machine that is busy with something else may keep Redis from answering for longer than usual.
    let setup = Setup { redis: redis.url(), budget_ms: Some(1_000), database, ..Setup::default() };
    let crew = crew::start(2, &setup).await;
    let [one, other] = crew.as_slice() else { unreachable!("two were started") };
    let old = one.raise("a").await;
    let changing = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let new = other.raise("a").await;
        assert_eq!(other.call(change(new)).await.outcome, Outcome::Everywhere);
        assert_eq!(shown(&other.call(load(0)).await.outcome), new);
        let late = one.call(load(0)).await;
        assert_eq!(shown(&late.outcome), new);
        (new, late)
    };

    let (first, (new, late)) = tokio::join!(one.call(load(2_000)), changing);

    println!("loaded {} at last, {new} is the truth", shown(&first.outcome));
    assert!([old, new].contains(&shown(&first.outcome)));
    assert!(late.ended < first.ended, "the late caller waited for the old load");
    for worker in &crew {
        assert_eq!(shown(&worker.call(Order::Read("a".into())).await.outcome), new);
    }
    // Its caller had the value before the fill was answered.
    let refused = async {
        while one.report().await.refused_fills == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("the late fill is refused");
    drop(crew);
    assert_eq!(redis.keys_without_expiry(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fill_is_refused_once_another_process_has_invalidated() {
    a_late_fill_is_refused(|_| Order::Invalidate("a".into())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fill_is_refused_once_another_process_has_put() {
    a_late_fill_is_refused(|new| Order::Put("a".into(), new)).await;
}
