//! What a policy does while Redis cannot be asked, and afterwards.

use std::time::Duration;

use forebay::{
    Forebay, Subject,
    limiter::{Limiter, OnOutage, Reserved, Tiers},
};
use forebay_rig::Redis;

use crate::{
    askers::{Askers, Told},
    stage::{PATIENCE, Stage, status, works},
    timing::{pass, until},
};

const A_WHILE: Duration = Duration::from_millis(400);

/// As many as share the windows while each is alone.
const PROCESSES: u32 = 3;

/// What makes a server of no use, by name.
pub(crate) const STRIKES: [&str; 5] = ["stopped", "killed", "full", "demoted", "hung for its clients"];

pub(crate) async fn strike(stage: &Stage, how: &str) {
    match how {
        "stopped" => stage.redis.pause(),
        "killed" => stage.redis.kill(),
        "full" => drop(stage.call(&["CONFIG", "SET", "maxmemory", "1"]).await),
        "demoted" => drop(stage.call(&["REPLICAOF", "127.0.0.1", "1"]).await),
        _ => drop(stage.call(&["CLIENT", "PAUSE", "60000", "ALL"]).await),
    }
}

/// A process whose budget is so large that no answer is late because the machine is busy.
pub(crate) async fn patient(url: String) -> Forebay {
    let forebay = Forebay::builder("outage").redis(url).redis_budget(Duration::from_secs(1));
    let forebay = forebay.build().await.expect("Redis is optional");
    until(PATIENCE, || works(&forebay)).await.expect("Redis is used");
    forebay
}

/// A limiter of ten a minute.
pub(crate) fn limiter(forebay: &Forebay, on_outage: OnOutage) -> Limiter {
    sized(forebay, on_outage, "10/minute")
}

pub(crate) fn sized(forebay: &Forebay, on_outage: OnOutage, windows: &str) -> Limiter {
    let policy = format!("{on_outage:?}").to_lowercase();
    let tiers = Tiers::new().tier("free", [windows]).expect("the window is well-formed");
    let builder = forebay.limiter(&policy, tiers).on_outage(on_outage);
    builder.expected_processes(PROCESSES).build().expect("nothing to refuse")
}

pub(crate) fn user() -> Subject {
    Subject::user("42")
}

/// What Redis says is left, as another process is told.
pub(crate) async fn left(stage: &Stage, like: &Limiter, windows: &str) -> u64 {
    let other = patient(stage.redis.url()).await;
    let tiers = Tiers::new().tier("free", [windows]).expect("the window is well-formed");
    let closed = other.limiter(like.policy(), tiers).on_outage(OnOutage::Closed);
    let decision = closed.build().expect("nothing to refuse").peek(&user(), "free").await;
    decision.quota().expect("Redis can be asked").remaining()
}

// R48: all are refused, or the errors of the store become those of the service.
#[tokio::test]
async fn each_policy_does_as_it_says_whatever_has_struck() {
    for how in STRIKES {
        let stage = Stage::new().await;
        let [local, open, closed] = [OnOutage::Local, OnOutage::Open, OnOutage::Closed]
            .map(|on_outage| limiter(&stage.forebay, on_outage));
        strike(&stage, how).await;
        let told =
            [&local, &open, &closed].map(|limiter| async { Told::of(limiter, &user(), 30).await.counts() });
        let told = futures::future::join_all(told).await;
        assert_eq!(told, [[4, 26, 0], [30, 0, 0], [0, 0, 30]], "{how}: {:?}", stage.status());
        let decision = local.check(&user(), "free").await;
        let quota = decision.quota().expect("it is denied");
        assert_eq!((quota.limit(), quota.tier(), quota.remaining()), (4, "free", 0));
    }
}

#[tokio::test]
async fn what_redis_has_refused_is_not_refused_for_longer_than_it_can_be_asked() {
    let stage = Stage::new().await;
    let closed = limiter(&stage.forebay, OnOutage::Closed);
    let told = Told::of(&closed, &user(), 30).await.counts();
    assert_eq!(told, [10, 20, 0]);
    stage.redis.kill();
    until(PATIENCE, || !stage.status().usable).await.expect("the loss is seen");
    assert_eq!(Told::of(&closed, &user(), 20).await.counts(), [0, 0, 20]);
}

// R48, R49: thirty seconds a call, or ten, or memory without end.
#[tokio::test]
async fn under_load_a_policy_goes_on_as_it_says_and_returns() {
    for how in ["stopped", "killed"] {
        let stage = Stage::new().await;
        let policies = [OnOutage::Local, OnOutage::Open, OnOutage::Closed];
        let [local, open, closed] = policies.map(|on_outage| sized(&stage.forebay, on_outage, "30000/hour"));
        let askers = [&local, &open, &closed].map(|limiter| Askers::begin(limiter, &user()));
        pass(A_WHILE).await;
        let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        strike(&stage, how).await;
        let most = until(A_WHILE * 3, || {
            assert!(stage.status().in_flight <= 64, "{:?}", stage.status());
            let now = tokio::runtime::Handle::current().metrics().num_alive_tasks();
            assert!(now <= tasks + 8, "{now} tasks, {tasks} before");
            false
        });
        assert_eq!(most.await, None);
        match how {
            "stopped" => stage.redis.resume(),
            _ => stage.restart().await,
        }
        stage.in_use().await;
        for (n, askers) in askers.into_iter().enumerate() {
            let told = askers.end().await;
            println!("{how}, {:?}: {told}", policies[n]);
            assert_eq!((told.denied, told.unavailable > 0), (0, n == 2), "{how}, {:?}: {told}", policies[n]);
        }
        let after = sized(&patient(stage.redis.url()).await, OnOutage::Closed, "30000/hour");
        assert!(Told::of(&after, &user(), 20).await.allowed == 20 && stage.status().usable, "{how}");
    }
}

/// Has a process see that the server is hung.
async fn given_up(forebay: &Forebay) {
    let probe = sized(forebay, OnOutage::Open, "30000/hour");
    let (who, status) = (user(), || status(forebay));
    futures::future::join_all((0..30).map(|_| probe.check(&who, "free"))).await;
    until(PATIENCE, || !status().usable).await.unwrap_or_else(|| panic!("it is still used: {:?}", status()));
}

#[tokio::test]
async fn counts_return_to_redis() {
    let stage = Stage::new().await;
    let forebay = patient(stage.redis.url()).await;
    let local = limiter(&forebay, OnOutage::Local);
    assert_eq!(Told::of(&local, &user(), 3).await.counts(), [3, 0, 0]);
    stage.redis.pause();
    given_up(&forebay).await;
    // What this process alone takes is the share of one, whatever Redis knew.
    assert_eq!(Told::of(&local, &user(), 9).await.counts(), [4, 5, 0]);
    stage.redis.resume();
    until(PATIENCE, || works(&forebay)).await.expect("Redis is used again");
    assert_eq!(Told::of(&local, &user(), 9).await.counts(), [7, 2, 0]);
    assert_eq!(left(&stage, &local, "10/minute").await, 0);
}

// R50: chi's panics at the start, and its fallback admits the whole limit in every process.
#[tokio::test]
async fn a_server_that_is_absent_at_the_start_is_no_reason_not_to_limit() {
    let redis = Redis::start();
    redis.kill();
    let url = redis.url();
    let stage = Stage::at(redis, url).await;
    let [local, closed] =
        [OnOutage::Local, OnOutage::Closed].map(|on_outage| limiter(&stage.forebay, on_outage));
    assert_eq!(Told::of(&local, &user(), 10).await.counts(), [4, 6, 0]);
    assert_eq!(Told::of(&closed, &user(), 10).await.counts(), [0, 0, 10]);
    stage.restart().await;
    stage.in_use().await;
    assert!(Told::of(&local, &user(), 5).await.allowed > 0);
    assert!(left(&stage, &local, "10/minute").await < 10, "nothing is counted in Redis");
}

#[tokio::test]
async fn a_reservation_of_an_outage_is_settled_where_it_was_made() {
    let stage = Stage::new().await;
    let local = limiter(&stage.forebay, OnOutage::Local);
    stage.redis.pause();
    stage.give_up().await;
    let reserved = local.reserve(&user(), "free", 10).await;
    let Reserved::Held(reservation) = reserved else { panic!("{reserved:?}") };
    assert_eq!((reservation.quota().limit(), reservation.quota().remaining()), (4, 0));
    stage.redis.resume();
    stage.in_use().await;
    let before = left(&stage, &local, "10/minute").await;
    reservation.settle(1).await.expect("it is settled in this process");
    assert_eq!(left(&stage, &local, "10/minute").await, before);
    stage.redis.pause();
    stage.give_up().await;
    assert!(Told::of(&local, &user(), 5).await.allowed >= 3);
}

// R46: NOSCRIPT becomes an error of the service, also where scripts were known before.
#[tokio::test]
async fn scripts_that_are_flushed_under_load_cost_nobody_an_answer() {
    let stage = Stage::new().await;
    let closed = sized(&patient(stage.redis.url()).await, OnOutage::Closed, "100000/hour");
    let askers = Askers::begin(&closed, &user());
    for _ in 0..10 {
        stage.call(&["SCRIPT", "FLUSH"]).await;
        pass(Duration::from_millis(20)).await;
    }
    let told = askers.end().await;
    assert!(told.allowed > 100 && told.counts()[1..] == [0, 0], "{told}");
    let left = left(&stage, &closed, "100000/hour").await;
    assert_eq!(left, 100_000 - told.allowed, "a call was counted twice, or not at all");
}

#[tokio::test]
async fn a_server_that_is_flushed_under_load_costs_nobody_an_answer() {
    let stage = Stage::new().await;
    let closed = sized(&patient(stage.redis.url()).await, OnOutage::Closed, "100000/hour");
    let askers = Askers::begin(&closed, &user());
    for _ in 0..10 {
        stage.call(&["FLUSHALL"]).await;
        pass(Duration::from_millis(20)).await;
    }
    let told = askers.end().await;
    assert!(told.allowed > 100 && told.counts()[1..] == [0, 0], "{told}");
    assert!(left(&stage, &closed, "100000/hour").await > 100_000 - told.allowed);
    assert_eq!(stage.redis.keys_without_expiry(), Vec::<String>::new());
}
