//! Visitors that come while Redis cannot be asked wait, are counted later, and are told of where they are dropped.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use forebay::{
    ErrorKind, Forebay,
    observe::{Event, Observe, VisitorsOutcome},
    testing::Flow,
    unique::Unique,
};
use forebay_rig::unless_starved;
use tokio::runtime::Runtime;

use crate::{
    stage::{PATIENCE, Stage, flow, works},
    timing::{pass, timed, until},
};

/// A budget, and what a busy machine adds.
const MOST: Duration = Duration::from_millis(80);

fn unique(forebay: &Forebay) -> Unique {
    forebay.unique("site").build().expect("nothing to refuse")
}

fn record(unique: &Unique, ids: std::ops::Range<u64>) {
    ids.for_each(|id| unique.record(&id.to_string()));
}

/// As soon as there is an answer, and on both sides of midnight.
async fn today(unique: &Unique) -> u64 {
    loop {
        if let Ok(count) = unique.count_days(2).await {
            return count.visitors;
        }
        pass(Duration::from_millis(20)).await;
    }
}

/// Sums what is told of visitors. Cheap to clone.
#[derive(Clone, Default)]
struct Told(Arc<[AtomicU64; 2]>);

impl Observe for Told {
    fn record(&self, event: Event<'_>) {
        if let Event::Visitors { outcome, visitors, .. } = event {
            self.0[usize::from(outcome == VisitorsOutcome::Dropped)].fetch_add(visitors, Relaxed);
        }
    }
}

impl Told {
    fn counted_and_dropped(&self) -> [u64; 2] {
        self.0.each_ref().map(|sum| sum.load(Relaxed))
    }
}

#[tokio::test]
async fn who_comes_while_the_server_is_away_is_counted_once_it_is_back() {
    for how in ["stopped", "killed", "a hole"] {
        let (stage, proxy) = Stage::behind_proxy().await;
        let unique = unique(&stage.forebay);
        record(&unique, 0..3);
        assert_eq!(today(&unique).await, 3);
        match how {
            "stopped" => stage.redis.pause(),
            "killed" => stage.redis.kill(),
            _ => flow(&proxy, Flow::Hold),
        }
        record(&unique, 3..50);
        let refused = unique.today().await;
        assert_eq!(refused.expect_err("nobody can be asked").kind(), ErrorKind::Unavailable);
        pass(Duration::from_millis(1200)).await;
        record(&unique, 40..60);
        let figures = unique.figures();
        assert_eq!((figures.pending, figures.dropped), (57, 0), "{how}");
        match how {
            "stopped" => stage.redis.resume(),
            "killed" => stage.restart().await,
            _ => flow(&proxy, Flow::Pass),
        }
        until(PATIENCE, || unique.figures().pending == 0).await.expect("they are counted by themselves");
        let lost = if how == "killed" { 3 } else { 0 };
        assert_eq!(today(&unique).await, 60 - lost, "{how}");
        assert_eq!(unique.figures().dropped, 0);
        assert_eq!(stage.redis.keys_without_expiry(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn as_many_wait_as_there_is_room_for_and_the_others_are_told_of() {
    let (stage, told) = (Stage::new().await, Told::default());
    let forebay = Forebay::builder("outage").redis(stage.redis.url()).observe(told.clone());
    let forebay = forebay.build().await.expect("nothing to refuse");
    until(PATIENCE, || works(&forebay)).await.expect("Redis is used");
    let unique = forebay.unique("site").buffer(1000).build().expect("nothing to refuse");
    stage.redis.kill();
    let dead = || !works(&forebay) && !works(&stage.forebay);
    until(PATIENCE, dead).await.expect("it is seen that Redis is dead");
    let lines = stage.journal.lines();
    record(&unique, 0..1500);
    record(&unique, 0..10);
    let figures = unique.figures();
    assert_eq!((figures.pending, figures.dropped), (1000, 500));
    pass(Duration::from_millis(2500)).await;
    record(&unique, 2000..2100);
    until(PATIENCE, || told.counted_and_dropped() == [0, 600]).await.expect("it is told of");
    assert!(stage.journal.lines() - lines <= 2, "{} lines", stage.journal.lines() - lines);
    stage.restart().await;
    until(PATIENCE, || unique.figures().pending == 0).await.expect("they are counted by themselves");
    assert_eq!(told.counted_and_dropped(), [1000, 600]);
    let count = today(&unique).await;
    assert!((980..=1020).contains(&count), "{count}");
    assert_eq!(unique.figures().dropped, 600);
}

#[tokio::test]
async fn who_was_counted_though_the_answer_is_lost_is_counted_once() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let unique = unique(&stage.forebay);
    record(&unique, 0..10);
    proxy.replies(Flow::Hold);
    unique.flush().await.expect_err("nobody has answered");
    assert_eq!(unique.figures().pending, 10);
    proxy.cut();
    proxy.replies(Flow::Pass);
    stage.in_use().await;
    assert_eq!((today(&unique).await, unique.figures().pending), (10, 0));
}

#[tokio::test]
async fn shutting_down_has_everybody_counted_who_waits() {
    let stage = Stage::new().await;
    let (forebay, _) = stage.neighbour().await;
    let unique = unique(&forebay);
    record(&unique, 0..2500);
    let (took, all) = timed(forebay.shutdown(Duration::from_secs(3))).await;
    assert!(all && took < Duration::from_secs(3), "{took:?}");
    let figures = unique.figures();
    assert_eq!((figures.pending, figures.dropped), (0, 0));
    record(&unique, 0..1);
    record(&unique, 5000..5001);
    assert!(unique.figures().dropped >= 1, "who comes afterwards is told of");
    let count = today(&self::unique(&stage.forebay)).await;
    assert!((2450..=2550).contains(&count), "{count}");
}

async fn shut_down_without_the_server() -> Result<(), String> {
    const BUDGET: Duration = Duration::from_millis(500);
    let stage = Stage::new().await;
    let unique = unique(&stage.forebay);
    stage.redis.pause();
    record(&unique, 0..7);
    let (took, all) = timed(stage.forebay.shutdown(BUDGET)).await;
    let figures = unique.figures();
    assert!(!all, "nobody was counted");
    assert_eq!((figures.pending, figures.dropped), (0, 7));
    if took <= BUDGET + Duration::from_millis(400) { Ok(()) } else { Err(format!("shut down in {took:?}")) }
}

#[test]
fn shutting_down_without_the_server_ends_in_time_and_tells_whom_it_drops() {
    unless_starved(|| alone(shut_down_without_the_server()));
}

/// Counts at a server that is stopped, with and without visitors that wait.
async fn count_in_vain() -> Result<(), String> {
    let stage = Stage::new().await;
    let unique = unique(&stage.forebay);
    assert_eq!(today(&unique).await, 0);
    stage.redis.pause();
    for waiting in 0..10 {
        record(&unique, 0..waiting * 500);
        let (took, refused) = timed(unique.count_days(7)).await;
        assert_eq!(refused.expect_err("nobody can be asked").kind(), ErrorKind::Unavailable);
        if took > MOST {
            return Err(format!("{took:?} with {waiting} * 500"));
        }
    }
    Ok(())
}

#[test]
fn a_count_costs_no_more_than_its_budget() {
    unless_starved(|| alone(count_in_vain()));
}

fn alone<T>(trial: impl Future<Output = T>) -> T {
    Runtime::new().expect("a runtime can be had").block_on(trial)
}

// B5: at a server that refuses to be written to nobody is lost: who comes waits, and who was counted before is read.
#[tokio::test]
async fn who_may_only_read_reads_what_was_counted_and_keeps_the_others() {
    let stage = Stage::new().await;
    let unique = unique(&stage.forebay);
    record(&unique, 0..3);
    assert_eq!(today(&unique).await, 3);
    stage
        .call(&[
            "ACL", "SETUSER", "reader", "on", ">secret", "~*", "&*", "+@all", "-@write", "+eval", "+evalsha",
        ])
        .await;
    let url = stage.redis.url().replace("redis://", "redis://reader:secret@");
    let reader = Forebay::builder("outage").redis(url).build().await.expect("nothing to refuse");
    until(PATIENCE, || works(&reader)).await.expect("Redis is used");
    let read = self::unique(&reader);
    record(&read, 3..5);
    let refused = read.flush().await.expect_err("it may not write");
    assert_eq!((refused.kind(), read.figures().pending), (ErrorKind::Unavailable, 2));
    assert_eq!([today(&read).await, today(&unique).await], [3, 3]);
    stage.call(&["ACL", "SETUSER", "reader", "+@all"]).await;
    assert_eq!(today(&read).await, 5);
}
