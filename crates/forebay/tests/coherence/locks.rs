//! Many who wait for one lock: they send what one sends, and are woken.

use std::time::Duration;

use forebay::lock::{Guard, Lock};
use forebay_rig::median;
use tokio::{runtime::Builder, task::JoinHandle};

use crate::rig::{CLOCK, Process, Rig, done};

const WAIT: Duration = Duration::from_secs(3);

/// The next question would come later than this.
const WOKEN: Duration = Duration::from_millis(100);

fn lock(process: &Process) -> Lock {
    process.forebay.lock("plan:42").wait(Duration::from_secs(60))
}

fn wait(lock: &Lock) -> JoinHandle<Guard> {
    let lock = lock.clone();
    tokio::spawn(async move { lock.acquire().await.unwrap() })
}

/// The questions of so many waiters in one process while nobody lets go.
async fn questions_of(waiters: usize) -> u64 {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let guard = lock(&here).acquire().await.unwrap();
    let before = rig.redis.script_calls();
    let waiting: Vec<_> = (0..waiters).map(|_| wait(&lock(&there))).collect();
    CLOCK.sleep(WAIT).await;
    let questions = rig.redis.script_calls() - before;
    assert!(waiting.iter().all(|waiter| !waiter.is_finished()));
    guard.release().await.unwrap();
    // One after the other has it, whoever has gone in between.
    for waiter in waiting.iter().skip(3) {
        waiter.abort();
    }
    for waiter in waiting.into_iter().take(3) {
        done(waiter).await.unwrap().release().await.unwrap();
    }
    questions
}

#[tokio::test]
async fn ten_thousand_who_wait_for_a_lock_send_what_one_sends() {
    let questions = [questions_of(1).await, questions_of(10_000).await];
    println!("questions in {WAIT:?}: {} of one, {} of ten thousand", questions[0], questions[1]);
    let most = u64::try_from(WAIT.as_millis() / 250).unwrap() + 1;
    assert!(questions[1] <= questions[0] + 1 && questions[1] <= most, "{questions:?}");
}

/// How long after a release another process has the lock, again and again.
async fn hand_overs(rounds: usize) -> Vec<Duration> {
    let rig = Rig::new();
    let processes: [Process; 2] = rig.open().await;
    let locks = processes.each_ref().map(lock);
    let mut spans = Vec::new();
    let mut guard = locks[0].acquire().await.unwrap();
    for round in 1..=rounds {
        let next = locks[round % 2].clone();
        let waiter = tokio::spawn(async move {
            let guard = next.acquire().await.unwrap();
            (guard, CLOCK.now())
        });
        // It has asked in vain by then.
        CLOCK.sleep(Duration::from_millis(10)).await;
        assert!(!waiter.is_finished());
        let released = CLOCK.now();
        assert!(guard.release().await.unwrap());
        let (had, at) = done(waiter).await.unwrap();
        spans.push(at.since(released));
        guard = had;
    }
    spans.sort_unstable();
    spans
}

#[test]
fn whoever_waits_for_a_lock_is_woken_by_its_release() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    forebay_rig::unless_starved(|| {
        let spans = runtime.block_on(hand_overs(300));
        let (p99, slowest) = (spans[spans.len() * 99 / 100], spans[spans.len() - 1]);
        println!("handed over after {:?}, p99 {p99:?}, slowest {slowest:?}", median(spans));
        if p99 < WOKEN { Ok(()) } else { Err(format!("p99 {p99:?}")) }
    });
}
