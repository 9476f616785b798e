//! A holder whose process is stopped past the life of its lock, and goes on.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use forebay_rig::{Redis, unless_starved};
use forebay_trials::{
    crew::{self, Worker},
    hold::{Held, Hold, Manner, Outcome, Stint},
    ledger::Ledger,
    moment::Moment,
    order::Setup,
};
use tempfile::TempDir;
use tokio::{runtime::Runtime, time::sleep};

const LIFE: Duration = Duration::from_millis(600);

/// How soon whoever goes on is told.
const PROMPT: Duration = Duration::from_millis(100);

const ROUNDS: usize = 4;

fn hold(manner: Manner, work: Duration) -> Hold {
    let ms = |span: Duration| span.as_millis().try_into().unwrap();
    let (life_ms, wait_ms, work_ms) = (ms(LIFE), 5_000, ms(work));
    Hold { name: "plan:42".into(), manner, life_ms, wait_ms, work_ms, polls: None }
}

fn stint(held: Option<Held>) -> Stint {
    match held {
        Some(Held { outcome: Outcome::Had(stint), .. }) => stint,
        other => panic!("it had no lock: {other:?}"),
    }
}

/// Waits until somebody writes under a fence above `last`.
async fn next_writer(ledger: &Ledger, last: u64) -> u64 {
    loop {
        match ledger.landed().await.last() {
            Some(&fence) if fence > last => return fence,
            _ => sleep(Duration::from_millis(5)).await,
        }
    }
}

/// How long after it went on the stopped holder was told.
async fn round([first, second]: [&Worker; 2], ledger: &Ledger, manner: Manner) -> Duration {
    let last = ledger.landed().await.last().copied().unwrap_or(0);
    let stopped = async {
        let fence = next_writer(ledger, last).await;
        first.stop();
        let until = Moment::now().after(LIFE * 3 / 2);
        let held = async { stint(second.hold(hold(Manner::Guard, LIFE * 2)).await) };
        let goes_on = async {
            assert!(next_writer(ledger, fence).await > fence);
            sleep(until.since(Moment::now())).await;
            first.go_on();
            Moment::now()
        };
        tokio::join!(held, goes_on)
    };
    let (before, (after, went_on)) =
        tokio::join!(async { stint(first.hold(hold(manner, Duration::from_secs(60))).await) }, stopped);
    assert!(before.lost, "{before:?}");
    assert_eq!((before.late_polls, before.refused, before.revived), (0, 0, false), "the work went on");
    assert!(after.fence > before.fence);
    // What the first one does once it goes on does not disturb the second one.
    assert!(!after.lost && after.refused == 0, "{after:?}");
    let landed = ledger.landed().await;
    assert!(landed.is_sorted(), "a write of the stopped holder landed after one of the next");
    before.ended.since(went_on)
}

// L3: renewal has a gap, and the lock is lost silently.
#[test]
fn a_holder_that_was_stopped_is_told_before_its_work_goes_on() {
    unless_starved(|| {
        let told = Runtime::new().unwrap().block_on(async {
            let (redis, folder) = (Redis::start(), TempDir::new().unwrap());
            let path = folder.path().join("ledger");
            let ledger = Ledger::open(&path).await.unwrap();
            let setup =
                Setup { redis: redis.url(), budget_ms: Some(1_000), ledger: Some(path), ..Setup::default() };
            let crew = crew::start(2, &setup).await;
            let mut told = Vec::new();
            for manner in [Manner::Run, Manner::Guard].repeat(ROUNDS / 2) {
                told.push(round([&crew[0], &crew[1]], &ledger, manner).await);
            }
            told
        });
        println!("told {told:?} after the process went on");
        if told.iter().all(|told| *told < PROMPT) { Ok(()) } else { Err(format!("{told:?}")) }
    });
}
