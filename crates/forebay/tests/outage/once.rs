//! Claims and executions while Redis cannot be asked, and what is carried out late.

use std::time::Duration;

use forebay::{
    ErrorKind, Forebay, Token,
    once::{Begun, Completed, Execution, Idempotency, OnIndeterminate, Record},
    testing::{Flow, Proxy},
};
use tokio::runtime::Runtime;

use crate::{
    limits::patient,
    stage::{PATIENCE, Stage, flow},
    timing::{now, pass, timed},
};

const MINUTE: Duration = Duration::from_secs(60);

/// A call ends within a budget, and a little.
const MOST: Duration = Duration::from_millis(60);

/// How soon nobody is kept out any more by a request that was carried out late: what takes it back is sent until it is
/// answered, and once more a second later.
const FREE: Duration = Duration::from_secs(4);

fn payments(forebay: &Forebay) -> Idempotency {
    forebay.idempotency().build().expect("nothing to refuse")
}

async fn begin(payments: &Idempotency, order: &str) -> Execution {
    match payments.begin(order, "").await.expect("Redis can be asked") {
        Begun::Run(execution) => execution,
        other => panic!("{other:?}"),
    }
}

/// What another process is told of an order.
async fn told(stage: &Stage, order: &str) -> Begun {
    let other = patient(stage.redis.url()).await;
    payments(&other).begin(order, "").await.expect("Redis can be asked")
}

/// Waits until `fact` holds.
async fn soon(within: Duration, fact: impl AsyncFn() -> bool) -> bool {
    let began = now();
    while began.elapsed() < within {
        if fact().await {
            return true;
        }
        pass(Duration::from_millis(20)).await;
    }
    false
}

/// Asks a server that cannot be used, by how it cannot, and tells the longest wait.
async fn trial(how: &str) -> Duration {
    let (stage, proxy) = Stage::behind_proxy().await;
    let payments = payments(&stage.forebay);
    match how {
        "slow" => proxy.replies(Flow::Delay(Duration::from_secs(2))),
        "a hole" => flow(&proxy, Flow::Hold),
        "stopped" => stage.redis.pause(),
        _ => stage.redis.kill(),
    }
    let mut longest = Duration::ZERO;
    for n in 0..30 {
        let name = n.to_string();
        let (took, refusal) = timed(stage.forebay.claim(&name, MINUTE)).await;
        assert_eq!(refusal.expect_err("nobody has granted it").kind(), ErrorKind::Unavailable, "{how}");
        let (long, refusal) = timed(payments.begin(&name, "")).await;
        assert_eq!(refusal.expect_err("nobody has granted it").kind(), ErrorKind::Unavailable, "{how}");
        longest = longest.max(took).max(long);
    }
    longest
}

// At best of three times, as a thread of a busy machine may stand still while others run.
#[test]
fn nothing_is_granted_without_redis_and_nobody_waits_for_it() {
    for how in ["slow", "a hole", "stopped", "killed"] {
        let mut waits = (0..3).map(|_| Runtime::new().expect("a runtime can be had").block_on(trial(how)));
        assert!(waits.any(|longest| longest <= MOST), "{how}");
    }
}

/// A stage whose proxy holds what is asked from now on.
async fn holding() -> (Stage, Proxy, Forebay) {
    let (stage, proxy) = Stage::behind_proxy().await;
    let forebay = Forebay::builder("outage").redis(proxy.url()).redis_budget(Duration::from_millis(50));
    let forebay = forebay.build().await.expect("Redis is optional");
    crate::timing::until(PATIENCE, || crate::stage::works(&forebay)).await.expect("Redis is used");
    // The scripts are known from now on; on a machine that is busy an answer may be late.
    let known = async || match payments(&forebay).begin("known", "").await {
        Ok(Begun::Run(execution)) => execution.give_up().await.is_ok(),
        _ => false,
    };
    assert!(soon(PATIENCE, known).await);
    (stage, proxy, forebay)
}

#[tokio::test]
async fn a_claim_that_is_carried_out_late_keeps_nobody_out() {
    for in_requests in [true, false] {
        let (stage, proxy, forebay) = holding().await;
        match in_requests {
            true => proxy.requests(Flow::Hold),
            false => proxy.replies(Flow::Hold),
        }
        forebay.claim("code", MINUTE).await.expect_err("nobody answers");
        flow(&proxy, Flow::Pass);
        let other = patient(stage.redis.url()).await;
        // Only after it was carried out is it known whether it is taken back.
        let free = async || {
            let keys = stage.call(&["KEYS", "claim:*"]).await;
            keys.trim().is_empty()
        };
        pass(Duration::from_millis(1500)).await;
        assert!(soon(FREE, free).await, "a claim of nobody's stays");
        assert!(other.claim("code", MINUTE).await.expect("Redis can be asked").is_claimed());
        pass(Duration::from_millis(1500)).await;
        assert!(!other.claim("code", MINUTE).await.expect("Redis can be asked").is_claimed(), "it was freed");
    }
}

#[tokio::test]
async fn what_is_begun_late_keeps_nobody_out() {
    for in_requests in [true, false] {
        let (stage, proxy, forebay) = holding().await;
        match in_requests {
            true => proxy.requests(Flow::Hold),
            false => proxy.replies(Flow::Hold),
        }
        payments(&forebay).begin("order", "").await.expect_err("nobody answers");
        flow(&proxy, Flow::Pass);
        pass(Duration::from_millis(1500)).await;
        let free = async || matches!(told(&stage, "order").await, Begun::Run(_));
        assert!(soon(FREE, free).await, "an execution of nobody's stays");
    }
}

// A release would come between the two requests of one caller, and let a second one in.
#[tokio::test]
async fn what_is_claimed_late_under_a_token_is_the_callers_who_asks_again() {
    let (stage, proxy, forebay) = holding().await;
    let token = Token::random();
    proxy.replies(Flow::Hold);
    forebay.claim_as("code", MINUTE, token).await.expect_err("nobody answers");
    payments(&forebay).begin_as("order", "", token).await.expect_err("nobody answers");
    flow(&proxy, Flow::Pass);
    let ours = async || forebay.claim_as("code", MINUTE, token).await.is_ok_and(|claim| claim.is_claimed());
    assert!(soon(PATIENCE, ours).await);
    let runs = async || matches!(payments(&forebay).begin_as("order", "", token).await, Ok(Begun::Run(_)));
    assert!(soon(PATIENCE, runs).await);
    pass(Duration::from_millis(2000)).await;
    let other = patient(stage.redis.url()).await;
    assert!(!other.claim("code", MINUTE).await.expect("Redis can be asked").is_claimed(), "it was freed");
    assert!(matches!(told(&stage, "order").await, Begun::Running { .. }), "it was given up");
}

/// Whether another process is told in the end that `order` is done. Until then nobody asks: where the server comes back
/// without what it knew, that would begin it.
async fn is_done(stage: &Stage, order: &str) -> bool {
    let key = format!("idem:outage:{{{order}}}");
    soon(PATIENCE, async || stage.call(&["GET", &key]).await.starts_with("1d")).await
        && matches!(told(stage, order).await, Begun::Done(_))
}

#[tokio::test]
async fn a_completion_that_is_not_answered_is_offered_until_it_is() {
    for how in ["stopped", "killed", "full"] {
        let stage = Stage::new().await;
        let execution = begin(&payments(&stage.forebay), "order").await;
        match how {
            "stopped" => stage.redis.pause(),
            "killed" => stage.redis.kill(),
            _ => drop(stage.call(&["CONFIG", "SET", "maxmemory", "1"]).await),
        }
        let refusal = execution.complete(Record::new("paid")).await.expect_err(how);
        assert_eq!(refusal.kind(), ErrorKind::Unavailable, "{how}");
        pass(Duration::from_millis(700)).await;
        match how {
            "stopped" => stage.redis.resume(),
            // It comes back without what it knew.
            "killed" => stage.restart().await,
            _ => drop(stage.call(&["CONFIG", "SET", "maxmemory", "0"]).await),
        }
        assert!(is_done(&stage, "order").await, "{how}");
    }
}

#[tokio::test]
async fn a_completion_whose_caller_has_gone_is_offered_too() {
    let stage = Stage::new().await;
    let execution = begin(&payments(&stage.forebay), "order").await;
    stage.redis.pause();
    drop(execution.complete(Record::new("paid")));
    pass(Duration::from_millis(200)).await;
    stage.redis.resume();
    assert!(is_done(&stage, "order").await);
}

#[tokio::test]
async fn what_is_given_up_while_redis_is_away_is_given_up_later() {
    let stage = Stage::new().await;
    let execution = begin(&payments(&stage.forebay), "order").await;
    stage.redis.pause();
    execution.give_up().await.expect_err("nobody answers");
    stage.redis.resume();
    assert!(soon(PATIENCE, async || matches!(told(&stage, "order").await, Begun::Run(_))).await);
}

// I6: what is kept late must not overwrite what somebody else has brought since.
#[tokio::test]
async fn a_completion_that_arrives_late_overwrites_nothing() {
    let (stage, proxy, forebay) = holding().await;
    let lease = Duration::from_millis(300);
    let build = |forebay: &Forebay| {
        let builder = forebay.idempotency().lease(lease).on_indeterminate(OnIndeterminate::Rerun);
        builder.build().expect("nothing to refuse")
    };
    let execution = begin(&build(&forebay), "order").await;
    proxy.requests(Flow::Hold);
    execution.complete(Record::new("first")).await.expect_err("nobody answers");
    let other = build(&patient(stage.redis.url()).await);
    let mut second = None;
    while second.is_none() {
        pass(lease / 10).await;
        if let Begun::Run(execution) = other.begin("order", "").await.expect("Redis can be asked") {
            second = Some(execution);
        }
    }
    flow(&proxy, Flow::Pass);
    pass(Duration::from_millis(1500)).await;
    let second = second.expect("it was waited for").complete(Record::new("second")).await;
    assert_eq!(second.expect("Redis can be asked"), Completed::Stored);
    let Begun::Done(record) = told(&stage, "order").await else { panic!("it is done") };
    assert_eq!(&record.bytes()[..], b"second");
}
