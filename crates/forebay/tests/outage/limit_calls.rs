//! One call of a limiter whose answer is late, lost or spoilt, or whose caller goes away.

use std::time::Duration;

use forebay::{
    Subject,
    clock::Clock,
    limiter::{Decision, Limiter, OnOutage, Reserved},
    testing::{Flow, Proxy},
};
use tokio::{runtime::Runtime, task::JoinHandle};

use crate::{
    askers::{Askers, Told},
    limits::{left, limiter, patient, sized, user},
    stage::{PATIENCE, Stage, flow, works},
    timing::{pass, until},
};

/// What 99 of a hundred calls take at most: a budget, and a little.
const MOST: Duration = Duration::from_millis(60);

/// What the slowest takes at most, beside something else that the machine does.
const SLOWEST: Duration = Duration::from_millis(100);

/// Eight callers of each policy at a server that cannot be used, by how it cannot.
async fn trial(how: &str) -> Result<(), String> {
    let (stage, proxy) = Stage::behind_proxy().await;
    let policies = [OnOutage::Local, OnOutage::Open, OnOutage::Closed];
    let limiters = policies.map(|on_outage| limiter(&stage.forebay, on_outage));
    match how {
        "slow" => proxy.replies(Flow::Delay(Duration::from_secs(2))),
        "a hole" => flow(&proxy, Flow::Hold),
        "stopped" => stage.redis.pause(),
        _ => stage.redis.kill(),
    }
    let askers = limiters.each_ref().map(|limiter| Askers::begin(limiter, &user()));
    pass(Duration::from_millis(1500)).await;
    let mut late = Vec::new();
    for (policy, askers) in policies.iter().zip(askers) {
        let mut told = askers.end().await;
        let seen = format!("{how}, {policy:?}: {told}, p99 {:?}, slowest {:?}", told.p99(), told.slowest());
        println!("{seen}");
        if told.p99() > MOST || told.slowest() > SLOWEST {
            late.push(seen);
        }
    }
    if late.is_empty() { Ok(()) } else { Err(late.join("; ")) }
}

// R48, R49: who asks waits as long as the store does. At best of three times, as one thread of a busy machine may stand
// still while others run.
#[test]
fn a_call_costs_no_more_than_its_budget_however_redis_fails() {
    for how in ["slow", "a hole", "stopped", "killed"] {
        let late = (0..3).map(|_| Runtime::new().expect("a runtime can be had").block_on(trial(how)).err());
        let late: Vec<_> = late.map_while(|late| late).collect();
        assert!(late.len() < 3, "{late:?}");
    }
}

/// Loses what the proxy holds: a connection that is cut ends a moment later.
async fn cut(proxy: &Proxy) {
    proxy.cut();
    pass(Duration::from_millis(50)).await;
}

// R37: what a lost answer has counted is counted twice by a client that asks again.
#[tokio::test]
async fn a_call_whose_answer_is_lost_counts_once() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let open = limiter(&stage.forebay, OnOutage::Open);
    assert_eq!(Told::of(&open, &user(), 1).await.counts(), [1, 0, 0]);
    let before = stage.redis.script_calls();
    proxy.replies(Flow::Hold);
    assert_eq!(Told::of(&open, &user(), 1).await.counts(), [1, 0, 0]);
    cut(&proxy).await;
    proxy.replies(Flow::Pass);
    stage.in_use().await;
    assert_eq!(stage.redis.script_calls() - before, 1);
    assert_eq!(left(&stage, &open, "10/minute").await, 8);
}

// R37: a settlement that is lost is not sent again either: what was reserved counts as spent.
#[tokio::test]
async fn a_settlement_whose_answer_is_lost_is_told_and_not_sent_again() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let closed = limiter(&patient(proxy.url()).await, OnOutage::Closed);
    let reserved = closed.reserve(&user(), "free", 5).await;
    let Reserved::Held(reservation) = reserved else { panic!("{reserved:?}") };
    let before = stage.redis.script_calls();
    proxy.requests(Flow::Hold);
    reservation.settle(1).await.expect_err("nobody has answered");
    cut(&proxy).await;
    proxy.requests(Flow::Pass);
    stage.in_use().await;
    assert_eq!(stage.redis.script_calls(), before);
    assert_eq!(left(&stage, &closed, "10/minute").await, 5);
}

#[tokio::test]
async fn callers_that_leave_harm_nobody() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let limiter = limiter(&patient(proxy.url()).await, OnOutage::Closed);
    proxy.replies(Flow::Delay(Duration::from_millis(50)));
    let calls = (0..100).map(|n| {
        let limiter = limiter.clone();
        tokio::spawn(async move { limiter.check(&Subject::user(n % 20), "free").await })
    });
    let calls: Vec<_> = calls.collect();
    pass(Duration::from_millis(20)).await;
    calls.iter().for_each(JoinHandle::abort);
    for call in calls {
        assert!(call.await.is_err_and(|error| error.is_cancelled()));
    }
    proxy.replies(Flow::Pass);
    for n in 0..20 {
        let Decision::Allowed(quota) = limiter.check(&Subject::user(n), "free").await else {
            panic!("five calls of ten are spent at most")
        };
        assert!((4..10).contains(&quota.remaining()), "{quota:?}");
    }
    assert_eq!(stage.redis.keys_without_expiry(), Vec::<String>::new());
}

#[tokio::test]
async fn who_leaves_while_the_second_subject_is_asked_gets_back_what_the_first_gave() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let limiter = limiter(&patient(proxy.url()).await, OnOutage::Closed);
    assert_eq!(remaining(&limiter, &user()).await, 10, "the script is known from now on");
    for n in 0..20 {
        let [first, second] = [Subject::user(n), Subject::key(n)];
        let asked = [(&first, "free"), (&second, "free")];
        let mut call = Box::pin(limiter.check_all(&asked));
        assert!(futures::poll!(&mut call).is_pending());
        while stage.call(&["EXISTS", &format!("rate_limit:outage:closed:{{user:{n}}}")]).await != "1" {
            pass(Duration::from_millis(1)).await;
        }
        // The answer reaches this process, but not yet the caller.
        pass(Duration::from_millis(20)).await;
        proxy.replies(Flow::Hold);
        assert!(futures::poll!(&mut call).is_pending());
        drop(call);
        proxy.replies(Flow::Pass);
        let gave_back = async {
            while remaining(&limiter, &first).await != 10 {
                pass(Duration::from_millis(1)).await;
            }
        };
        assert!(Clock::real().timeout(PATIENCE, gave_back).await.is_some(), "caller {n}");
        assert!(remaining(&limiter, &second).await >= 9);
    }
}

async fn remaining(limiter: &Limiter, subject: &Subject) -> u64 {
    limiter.peek(subject, "free").await.quota().expect("Redis can be asked").remaining()
}

// R13: Limitador's flush task dies of it, and nobody counts any more.
#[tokio::test]
async fn what_is_of_another_type_for_once_stops_nobody_from_counting() {
    let stage = Stage::new().await;
    let closed = limiter(&patient(stage.redis.url()).await, OnOutage::Closed);
    let key = "rate_limit:outage:closed:{user:42}";
    assert_eq!(Told::of(&closed, &user(), 2).await.counts(), [2, 0, 0]);
    stage.call(&["DEL", key]).await;
    stage.call(&["HSET", key, "field", "value"]).await;
    assert_eq!(Told::of(&closed, &user(), 12).await.counts(), [10, 2, 0]);
    assert!(stage.redis.keys_without_expiry().is_empty());
}

// R18: INCR without its EXPIRE, when the client goes away in between.
#[tokio::test]
async fn clients_that_are_killed_under_load_leave_no_key_without_an_end() {
    let stage = Stage::new().await;
    let open = sized(&stage.forebay, OnOutage::Open, "100000/hour");
    let askers = Askers::begin(&open, &user());
    for _ in 0..10 {
        stage.call(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).await;
        pass(Duration::from_millis(30)).await;
        assert!(stage.redis.keys_without_expiry().is_empty());
    }
    let told = askers.end().await;
    assert!(told.allowed > 50 && told.counts()[1..] == [0, 0], "{told}");
    stage.in_use().await;
    assert!(left(&stage, &open, "100000/hour").await >= 100_000 - told.allowed);
}

// R20: between its INCR and its PTTL rate-limit-redis takes an old count for that of a new window.
#[tokio::test]
async fn a_key_that_ends_under_load_is_counted_anew() {
    let stage = Stage::new().await;
    let closed = sized(&patient(stage.redis.url()).await, OnOutage::Closed, "100000/hour");
    let key = "rate_limit:outage:closed:{user:42}";
    let askers = Askers::begin(&closed, &user());
    for _ in 0..50 {
        stage.call(&["PEXPIRE", key, "1"]).await;
        pass(Duration::from_millis(4)).await;
        assert!(stage.redis.keys_without_expiry().is_empty());
    }
    let told = askers.end().await;
    assert!(told.allowed > 100 && told.counts()[1..] == [0, 0], "{told}");
    stage.call(&["PEXPIRE", key, "1"]).await;
    pass(Duration::from_millis(20)).await;
    let Decision::Allowed(quota) = closed.check(&user(), "free").await else {
        panic!("it is not counted anew")
    };
    assert_eq!(quota.remaining(), 99_999);
    assert!(quota.reset_after() > Duration::from_hours(1) - Duration::from_secs(10));
}

// A server that is started anew without its keys has counted nothing.
#[tokio::test]
async fn a_server_that_restarts_empty_counts_from_then_on() {
    let stage = Stage::new().await;
    let forebay = patient(stage.redis.url()).await;
    let closed = limiter(&forebay, OnOutage::Closed);
    assert_eq!(Told::of(&closed, &user(), 11).await.counts(), [10, 1, 0]);
    stage.restart().await;
    // A refusal is believed for no longer than a second.
    pass(Duration::from_millis(1020)).await;
    until(PATIENCE, || works(&forebay)).await.expect("Redis is used again");
    assert_eq!(Told::of(&closed, &user(), 11).await.counts(), [10, 1, 0]);
}
