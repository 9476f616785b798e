//! Locks while Redis cannot be asked: nobody is told that it has one, and everybody is told soon.

use std::time::Duration;

use forebay::{
    ErrorKind, Forebay, Token,
    lock::{Guard, Lock, LockError},
    testing::{Flow, Proxy},
};
use forebay_rig::unless_starved;
use futures::future::join_all;
use tokio::runtime::Runtime;

use crate::{
    limits::patient,
    stage::{PATIENCE, Stage, flow, works},
    timing::{now, pass, timed, until},
};

/// What a call takes at most: a budget, and what else the machine does.
const MOST: Duration = Duration::from_millis(100);

/// What makes a server of no use, by name.
const STRIKES: [&str; 4] = ["slow", "a hole", "stopped", "killed"];

fn strike(stage: &Stage, proxy: &Proxy, how: &str) {
    match how {
        "slow" => proxy.replies(Flow::Delay(Duration::from_secs(2))),
        "a hole" => flow(proxy, Flow::Hold),
        "stopped" => stage.redis.pause(),
        _ => stage.redis.kill(),
    }
}

/// Takes a lock that is free.
pub(crate) async fn take(lock: &Lock) -> Guard {
    lock.try_acquire().await.expect("Redis can be asked").expect("the lock is free")
}

pub(crate) async fn is_free(lock: &Lock) -> bool {
    lock.try_acquire().await.expect("Redis can be asked").is_some()
}

/// How long it takes until `lock` can be had.
pub(crate) async fn free_after(lock: &Lock) -> Duration {
    let began = now();
    while !is_free(lock).await {
        assert!(began.elapsed() < PATIENCE, "it is never free");
        pass(Duration::from_millis(5)).await;
    }
    began.elapsed()
}

/// How many keys of locks there are.
pub(crate) async fn locks(stage: &Stage) -> usize {
    stage.call(&["KEYS", "lock:*"]).await.lines().filter(|line| !line.is_empty()).count()
}

/// Every call that can be made of a lock at once, each of which is told that Redis cannot be asked.
async fn calls(forebay: &Forebay, token: Token, guard: Guard) -> [Duration; 6] {
    let (free, carried) = (forebay.lock("free"), forebay.lock("carried"));
    let (acquired, tried, run, renewed, released, freed) = tokio::join!(
        timed(free.acquire()),
        timed(free.try_acquire()),
        timed(free.run(async |_| panic!("nobody holds it"))),
        timed(carried.renew(token)),
        timed(carried.release(token)),
        timed(guard.release()),
    );
    let error = |error: LockError| match error {
        LockError::Unavailable(error) => error,
        other => panic!("Redis cannot be asked: {other:?}"),
    };
    let ((ran, run), (acquiring, acquired)) = (run, acquired);
    let run: Result<(), LockError> = run;
    let told = [
        (acquiring, acquired.map(drop).map_err(error)),
        (tried.0, tried.1.map(drop)),
        (ran, run.map_err(error)),
        (renewed.0, renewed.1.map(drop)),
        (released.0, released.1.map(drop)),
        (freed.0, freed.1.map(drop)),
    ];
    told.map(|(took, told)| {
        assert_eq!(told.expect_err("Redis cannot be asked").kind(), ErrorKind::Unavailable);
        took
    })
}

async fn trial(how: &str) -> Result<(), String> {
    let (stage, proxy) = Stage::behind_proxy().await;
    let token = take(&stage.forebay.lock("carried")).await.into_token();
    let guards = [take(&stage.forebay.lock("b")).await, take(&stage.forebay.lock("c")).await];
    strike(&stage, &proxy, how);
    for guard in guards {
        let spans = calls(&stage.forebay, token, guard).await;
        println!("{how}: {spans:?}");
        if spans.iter().any(|took| *took > MOST) {
            return Err(format!("{how}: {spans:?}"));
        }
    }
    Ok(())
}

// At best of three times, as one thread of a busy machine may stand still while others run.
#[test]
fn nobody_is_told_that_it_has_a_lock_that_could_not_be_asked_for() {
    for how in STRIKES {
        let late = (0..3).map(|_| Runtime::new().expect("a runtime can be had").block_on(trial(how)).err());
        let late: Vec<_> = late.map_while(|late| late).collect();
        assert!(late.len() < 3, "{late:?}");
    }
}

/// When each of a thousand waiters is told, from the strike on.
async fn told_after(how: &str) -> Vec<Duration> {
    let (stage, proxy) = Stage::behind_proxy().await;
    let (other, _) = stage.neighbour().await;
    let _guard = take(&other.lock("a")).await;
    let waiters = (0..1_000).map(|_| {
        let lock = stage.forebay.lock("a").wait(Duration::from_secs(60));
        tokio::spawn(async move { (lock.acquire().await, now()) })
    });
    let waiters: Vec<_> = waiters.collect();
    pass(Duration::from_millis(300)).await;
    strike(&stage, &proxy, how);
    let struck = now();
    let told = join_all(waiters).await.into_iter().map(|waiter| {
        let (told, at) = waiter.expect("no waiter panics");
        assert!(matches!(told, Err(LockError::Unavailable(_))), "{told:?}");
        at.saturating_duration_since(struck)
    });
    let mut told: Vec<_> = told.collect();
    told.sort_unstable();
    told
}

// One budget after the other, a thousand of them would take a minute.
#[test]
fn a_thousand_who_wait_learn_together_that_redis_is_gone() {
    let runtime = Runtime::new().expect("a runtime can be had");
    for how in STRIKES {
        unless_starved(|| {
            let told = runtime.block_on(told_after(how));
            let (first, last) = (told[0], told[told.len() - 1]);
            println!("{how}: a thousand are told from {first:?} to {last:?}");
            // The first asks at least once a second.
            let together = last < Duration::from_secs(2) && last - first < Duration::from_millis(60);
            if together { Ok(()) } else { Err(format!("{how}: {first:?} to {last:?}")) }
        });
    }
}

#[tokio::test]
async fn whoever_comes_after_an_outage_is_served() {
    let (stage, proxy) = Stage::behind_proxy().await;
    flow(&proxy, Flow::Hold);
    let lock = stage.forebay.lock("a");
    let waiters = (0..50).map(|_| {
        let lock = lock.clone();
        tokio::spawn(async move { lock.acquire().await.is_err() })
    });
    assert!(join_all(waiters).await.into_iter().all(|failed| failed.expect("no waiter panics")));
    flow(&proxy, Flow::Pass);
    stage.in_use().await;
    let took = free_after(&stage.forebay.lock("a")).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// How long somebody else is locked out by a request that was held, from when it is let go.
async fn locked_out_by(held_for: Duration, goes_away: bool) -> Duration {
    let (stage, proxy) = Stage::behind_proxy().await;
    let other = patient(stage.redis.url()).await;
    drop(take(&stage.forebay.lock("known")).await);
    let lock = stage.forebay.lock("a");
    proxy.requests(Flow::Hold);
    if goes_away {
        let asking = Box::pin(lock.acquire());
        let patience = Duration::from_millis(20);
        assert!(forebay::clock::Clock::real().timeout(patience, asking).await.is_none());
    } else {
        let told = lock.acquire().await;
        assert!(matches!(told, Err(LockError::Unavailable(_))), "{told:?}");
    }
    pass(held_for).await;
    proxy.requests(Flow::Pass);
    let executed =
        until(Duration::from_millis(100), || stage.redis.call(&["EXISTS", "lock:outage:{a}"]) == "1");
    let executed = executed.await;
    let took = free_after(&other.lock("a")).await;
    // It may come back once more, as what was held on another connection arrives.
    pass(Duration::from_millis(1_300)).await;
    println!("held for {held_for:?}: done after {executed:?}, free after {took:?}");
    assert!(is_free(&other.lock("a")).await);
    took
}

// Whatever has a life of 30 s and no holder is gone long before.
#[tokio::test]
async fn what_redis_does_too_late_locks_nobody_out() {
    for (held_for, goes_away) in [(20, false), (20, true), (700, false), (700, true)] {
        let took = locked_out_by(Duration::from_millis(held_for), goes_away).await;
        assert!(took < Duration::from_secs(2), "held for {held_for} ms: {took:?}");
    }
}

// L11, L12: the answer to a release is lost, or who released has gone.
#[tokio::test]
async fn a_release_that_nobody_has_answered_is_done_all_the_same() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let other = patient(stage.redis.url()).await;
    assert!(is_free(&other.lock("known")).await);
    let guard = take(&stage.forebay.lock("a")).await;
    // The script of the release is known from now on.
    pass(Duration::from_millis(50)).await;
    proxy.replies(Flow::Hold);
    guard.release().await.expect_err("nobody has answered");
    assert!(is_free(&other.lock("a")).await);
    proxy.replies(Flow::Pass);

    stage.in_use().await;
    let guards = [take(&stage.forebay.lock("b")).await, take(&stage.forebay.lock("c")).await];
    proxy.requests(Flow::Hold);
    let [kept, left] = guards;
    let releases = tokio::spawn(left.release());
    kept.release().await.expect_err("nobody has answered");
    releases.abort();
    assert!(!is_free(&other.lock("b")).await && !is_free(&other.lock("c")).await);
    proxy.requests(Flow::Pass);
    for name in ["b", "c"] {
        let took = free_after(&other.lock(name)).await;
        assert!(took < Duration::from_secs(2), "{name}: {took:?}");
    }
}

// L18: a release is sent again, so seldom and for so long that nothing piles up.
#[tokio::test]
async fn a_hundred_releases_at_a_stopped_server_are_done_once_and_leave_nothing_behind() {
    let stage = Stage::new().await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let mut guards = Vec::new();
    for n in 0..100 {
        guards.push(take(&stage.forebay.lock(&n.to_string())).await);
    }
    stage.redis.pause();
    drop(guards);
    pass(Duration::from_secs(1)).await;
    assert!(tasks() <= before + 110, "{} tasks, {before} before", tasks());
    stage.redis.resume();
    stage.in_use().await;
    let sent = stage.redis.script_calls();
    let free = async {
        while locks(&stage).await > 0 {
            pass(Duration::from_millis(10)).await;
        }
    };
    let (took, ()) = timed(free).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    until(PATIENCE, || tasks() <= before + 2).await.unwrap_or_else(|| panic!("{} tasks", tasks()));
    // Each once until it is answered, and once more.
    let sent = stage.redis.script_calls() - sent;
    assert!(sent <= 210, "{sent} releases");
    assert!(works(&stage.forebay));
}
