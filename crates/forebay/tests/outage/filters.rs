//! A filter while Redis cannot be asked, and once it may have lost something.

use std::{convert::Infallible, sync::Arc, time::Duration};

use forebay::{
    Error, ErrorKind, Forebay,
    cache::{Cache, LoadError},
    filter::{Answer, Filter, Rebuilt},
    testing::Flow,
};
use forebay_rig::Redis;

use crate::{
    limits::{STRIKES, patient, strike},
    stage::{PATIENCE, Stage, works},
    timing::{pass, timed, until},
};

const BUDGET: Duration = Duration::from_millis(50);

/// What a busy machine may add to that.
const SLACK: Duration = Duration::from_millis(250);

fn filter(forebay: &Forebay) -> Filter {
    let builder = forebay.filter("known", 1_000, 1e-6);
    builder.visible_within(Duration::ZERO).build().expect("nothing to refuse")
}

/// Fills it with `a`.
async fn fill(filter: &Filter) {
    let rebuilt = filter.rebuild(async |fresh| fresh.add_all(["a"]).await).await;
    assert_eq!(rebuilt.expect("Redis can be asked"), Rebuilt::Complete);
}

async fn filled(forebay: &Forebay) -> Filter {
    let known = filter(forebay);
    fill(&known).await;
    assert_eq!(known.check("b").await, Answer::No);
    known
}

fn guarded(forebay: &Forebay, by: &Filter) -> Cache<String> {
    let builder = forebay.cache::<String>("guarded", Duration::from_secs(600));
    builder.guarded_by(by).build().expect("nothing to refuse")
}

async fn load(cache: &Cache<String>, id: &str) -> Result<Arc<String>, LoadError<Infallible>> {
    cache.get_or_load(id, async |_| Ok::<_, Infallible>("loaded".to_owned())).await
}

#[tokio::test]
async fn whatever_has_struck_it_says_maybe_within_the_budget_and_takes_nothing() {
    for how in STRIKES.into_iter().filter(|how| *how != "full") {
        let stage = Stage::new().await;
        let known = filled(&stage.forebay).await;
        strike(&stage, how).await;
        let (took, answer) = timed(known.check("b")).await;
        assert!(answer == Answer::Maybe && took < BUDGET + SLACK, "{how}: {answer:?} after {took:?}");
        let (took, added) = timed(known.add("b")).await;
        assert_eq!(added.expect_err("it cannot be").kind(), ErrorKind::Unavailable, "{how}");
        assert!(took < BUDGET + SLACK, "{how}: after {took:?}");
        assert!(known.figures().await.is_err(), "{how}");
    }
}

// A server without room still knows what it has.
#[tokio::test]
async fn a_full_server_answers_and_takes_nothing_new() {
    let stage = Stage::new().await;
    let known = filled(&stage.forebay).await;
    strike(&stage, "full").await;
    assert_eq!((known.check("a").await, known.check("b").await), (Answer::Maybe, Answer::No));
    known.add("b").await.expect_err("there is no room");
    assert_eq!(known.check("b").await, Answer::No, "nobody was told that it is there");
    known.rebuild(async |_| Ok::<_, Error>(())).await.expect_err("there is no room");
    assert_eq!(known.check("b").await, Answer::No);
}

#[tokio::test]
async fn a_guarded_read_takes_one_budget_and_loads() {
    let stage = Stage::new().await;
    let cache = guarded(&stage.forebay, &filled(&stage.forebay).await);
    stage.redis.pause();
    let (took, loaded) = timed(load(&cache, "b")).await;
    assert_eq!(loaded.expect("it may exist").as_str(), "loaded");
    assert!(took < BUDGET + SLACK, "after {took:?}");
    let (took, read) = timed(cache.get("c")).await;
    assert!(read.is_none() && took < BUDGET + SLACK, "after {took:?}");
}

#[tokio::test]
async fn what_the_filter_takes_a_guarded_read_has_no_more() {
    let (_stage, proxy) = Stage::behind_proxy().await;
    let budget = Duration::from_millis(500);
    let forebay = Forebay::builder("outage").redis(proxy.url()).redis_budget(budget).build().await;
    let forebay = forebay.expect("Redis is optional");
    until(PATIENCE, || works(&forebay)).await.expect("Redis is used");
    let cache = guarded(&forebay, &filled(&forebay).await);
    proxy.replies(Flow::Delay(budget * 4 / 5));
    let (took, loaded) = timed(load(&cache, "a")).await;
    assert_eq!(loaded.expect("it may exist").as_str(), "loaded");
    assert!(took < budget * 7 / 5, "after {took:?}");
}

/// A server that keeps its data when it starts anew.
fn lasting() -> Redis {
    Redis::with(&["--appendonly", "yes", "--appendfsync", "always"])
}

#[tokio::test]
async fn a_server_that_has_started_anew_is_believed_after_a_rebuild_only() {
    let stage = Stage::over(lasting()).await;
    let known = filled(&stage.forebay).await;
    stage.restart().await;
    stage.in_use().await;
    assert_ne!(stage.call(&["EXISTS", "filter:outage:{known}"]).await, "0", "it keeps nothing");
    assert_eq!((known.check("a").await, known.check("b").await), (Answer::Maybe, Answer::Maybe));
    assert!(!known.figures().await.expect("Redis can be asked").complete);
    known.add("c").await.expect("Redis can be asked");
    fill(&known).await;
    assert_eq!((known.check("a").await, known.check("b").await), (Answer::Maybe, Answer::No));
}

// The id of the server's run is the same all the while.
#[tokio::test]
async fn a_server_that_was_a_replica_meanwhile_is_not_believed() {
    let (stage, other) = (Stage::new().await, Redis::start());
    let known = filled(&stage.forebay).await;
    let port = other.port().to_string();
    other.call(&["REPLICAOF", "127.0.0.1", &stage.redis.port().to_string()]);
    let synced = || other.call(&["EXISTS", "filter:outage:{known}"]) == "1";
    until(PATIENCE, synced).await.expect("the replica has all");
    other.call(&["REPLICAOF", "NO", "ONE"]);
    let elsewhere = filter(&patient(other.url()).await);
    assert_eq!(elsewhere.check("b").await, Answer::Maybe, "another server");
    assert_eq!(stage.call(&["REPLICAOF", "127.0.0.1", &port]).await, "OK");
    assert_eq!(known.check("c").await, Answer::Maybe, "it is a replica now");
    assert_eq!(stage.call(&["REPLICAOF", "NO", "ONE"]).await, "OK");
    stage.in_use().await;
    assert_eq!(known.check("b").await, Answer::Maybe, "what was added elsewhere may be lost");
    fill(&known).await;
    assert_eq!(known.check("b").await, Answer::No);
}

#[tokio::test]
async fn a_flushed_server_says_maybe() {
    let stage = Stage::new().await;
    let known = filled(&stage.forebay).await;
    stage.call(&["FLUSHALL"]).await;
    assert_eq!((known.check("a").await, known.check("b").await), (Answer::Maybe, Answer::Maybe));
    known.add("b").await.expect("nothing is there to add to");
    assert_eq!(known.check("c").await, Answer::Maybe);
    fill(&known).await;
    assert_eq!(known.check("b").await, Answer::No);
}

#[tokio::test]
async fn a_rebuild_during_which_the_server_starts_anew_comes_to_nothing() {
    let stage = Stage::over(lasting()).await;
    let known = filled(&stage.forebay).await;
    let rebuilt = known
        .rebuild(async |fresh| {
            fresh.add_all(["b"]).await?;
            stage.restart().await;
            stage.in_use().await;
            fresh.add_all(["c"]).await
        })
        .await;
    assert_eq!(rebuilt.expect_err("it was lost").kind(), ErrorKind::Unavailable);
    assert_eq!(known.check("d").await, Answer::Maybe);
}

#[tokio::test]
async fn a_rebuild_outlasts_a_moment_without_redis() {
    let stage = Stage::new().await;
    let known = filter(&stage.forebay);
    let strike = async {
        stage.redis.pause();
        pass(Duration::from_secs(1)).await;
        stage.redis.resume();
    };
    let rebuilt = known
        .rebuild(async |fresh| {
            let (added, ()) = tokio::join!(fresh.add_all(["a"]), strike);
            added
        })
        .await;
    assert_eq!(rebuilt.expect("it was asked again"), Rebuilt::Complete);
    stage.in_use().await;
    assert_eq!((known.check("a").await, known.check("b").await), (Answer::Maybe, Answer::No));
}

#[tokio::test]
async fn a_rebuild_whose_beginning_is_not_answered_keeps_nobody_out() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let (known, other) = (filter(&stage.forebay), filled(&patient(stage.redis.url()).await).await);
    assert_eq!(known.check("b").await, Answer::No);
    proxy.replies(Flow::Hold);
    let rebuilt = known.rebuild(async |_| Ok::<_, Error>(())).await;
    assert_eq!(rebuilt.expect_err("nothing was answered").kind(), ErrorKind::Unavailable);
    assert!(other.figures().await.expect("it is answered").rebuilding, "it was not even begun");
    proxy.replies(Flow::Pass);
    let began = crate::timing::now();
    while other.figures().await.expect("it is answered").rebuilding {
        assert!(began.elapsed() < PATIENCE, "it is not taken back");
        pass(Duration::from_millis(10)).await;
    }
    fill(&other).await;
    assert_eq!(other.check("b").await, Answer::No);
}

#[tokio::test]
async fn who_may_not_ask_for_its_history_is_told_so() {
    let stage = Stage::new().await;
    let rules = ["ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-info"];
    assert_eq!(stage.call(&rules).await, "OK");
    let url = format!("redis://app:secret@127.0.0.1:{}", stage.redis.port());
    let known = filter(&patient(url).await);
    let refused = known.rebuild(async |_| Ok::<_, Error>(())).await.expect_err("it would be of no use");
    assert!(refused.kind() == ErrorKind::Config && refused.to_string().contains("INFO"), "{refused}");
    filled(&stage.forebay).await;
    assert_eq!(known.check("b").await, Answer::Maybe);
    known.add("b").await.expect("that needs no history");
}
