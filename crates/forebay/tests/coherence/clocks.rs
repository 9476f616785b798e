//! A server whose clock is set back: what it was to forget soon keeps nobody from loading for as long as that.

use std::time::Duration;

use forebay::{
    cache::{Cache, LoadError},
    clock::Moment,
};
use forebay_rig::{Redis, ServerClock};

use crate::rig::{CLOCK, Origin, Process, Rig, done, eventually, lease_key};

/// By how much a clock is set back.
const QUARTER: Duration = Duration::from_mins(15);

/// What the leases of these tests are to last.
const LEASE: Duration = Duration::from_secs(2);

/// What a busy machine may add.
const SLACK: Duration = Duration::from_secs(1);

fn rig() -> (Rig, ServerClock) {
    let (redis, clock) = Redis::with_running_clock();
    (Rig { redis }, clock)
}

fn leased(process: &Process) -> Cache<String> {
    process.builder().lease(LEASE).build().unwrap()
}

/// What is left of the lease of `id`, or of its note, by the server's account.
fn left(rig: &Rig, id: &str) -> Option<Duration> {
    rig.redis.call(&["PTTL", &lease_key(id)]).parse().ok().map(Duration::from_millis)
}

/// How long loads of `a` are refused, since `began`.
async fn refused_for(cache: &Cache<String>, began: Moment) -> Duration {
    loop {
        match done(Origin::ready().call(cache, "a", Ok("new"))).await.unwrap() {
            Ok(_) => return CLOCK.now().since(began),
            Err(LoadError::FailedElsewhere { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
        assert!(CLOCK.now().since(began) < 5 * LEASE, "for a quarter of an hour nobody can load");
        CLOCK.sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_failure_is_no_longer_in_the_way_than_it_was_to_be() {
    let (rig, clock) = rig();
    let processes = rig.open::<2>().await;
    let [here, there] = processes.each_ref().map(Process::cache);
    assert!(matches!(
        Origin::ready().call(&here, "a", Err("down")).await.unwrap(),
        Err(LoadError::Failed(_))
    ));
    eventually(|| rig.redis.call(&["HGET", &lease_key("a"), "note"]) == "failed").await;
    clock.step_back(QUARTER);
    assert!(left(&rig, "a") > Some(QUARTER));
    let refused = refused_for(&there, CLOCK.now()).await;
    println!("a failure that was to be in the way for 1 s was so for {refused:?}");
    // From when it is first seen, it lasts as long as it was to.
    assert!(refused < 2 * SLACK, "{refused:?}");
}

#[tokio::test]
async fn the_lease_of_a_dead_holder_is_no_longer_in_the_way_than_it_was_to_be() {
    let (rig, clock) = rig();
    let processes = rig.open::<2>().await;
    let [here, there] = processes.each_ref().map(leased);
    let dead = Origin::paused();
    let lost = dead.call(&here, "a", Ok("never"));
    eventually(|| dead.calls() == 1).await;
    processes[0].proxy.refuse();
    processes[0].proxy.cut();
    clock.step_back(QUARTER);
    assert!(left(&rig, "a") > Some(QUARTER));
    let waited = refused_for(&there, CLOCK.now()).await;
    println!("the lease of a dead holder, of {LEASE:?}, was in the way for {waited:?}");
    assert!(waited < LEASE + SLACK, "{waited:?}");
    lost.abort();
}

#[tokio::test]
async fn whoever_renews_a_lease_sets_it_right() {
    let (rig, clock) = rig();
    let [here] = rig.open().await;
    let (cache, origin) = (leased(&here), Origin::paused());
    let loading = origin.call(&cache, "a", Ok("A"));
    eventually(|| origin.calls() == 1).await;
    clock.step_back(QUARTER);
    assert!(left(&rig, "a") > Some(QUARTER));
    // Nobody but its holder asks for it.
    eventually(|| left(&rig, "a").is_some_and(|left| left <= LEASE)).await;
    origin.let_go();
    assert_eq!(*done(loading).await.unwrap().unwrap(), "A");
}
