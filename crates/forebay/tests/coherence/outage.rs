//! A server that cannot be asked: memory serves, also what it would not trust otherwise.

use std::time::Duration;

use forebay::{
    cache::{Invalidated, Refresh},
    testing::Flow,
};

use crate::rig::{CLOCK, LIFE, Origin, Rig, done, eventually, fill, held, invalidate, remember};

// Memory serves while Redis cannot be asked.
#[tokio::test]
async fn memory_serves_while_the_server_stands_still() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let (cache, origin) = (here.cache(), Origin::ready());
    remember(&cache, "a", "A").await;
    rig.redis.pause();
    eventually(|| !here.status().hears && !here.status().usable).await;
    for _ in 0..50 {
        assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
        assert_eq!(*origin.call(&cache, "a", Ok("B")).await.unwrap().unwrap(), "A");
    }
    assert_eq!(origin.calls(), 0);
    rig.redis.resume();
    eventually(|| here.status().hears).await;
    remember(&cache, "a", "A").await;
}

// Memory that is not trusted serves while Redis cannot be asked, and no longer than that.
#[tokio::test]
async fn behind_a_hole_memory_serves_and_once_it_is_over_nothing_old() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    remember(&reader, "a", "old").await;
    there.proxy.requests(Flow::Hold);
    there.proxy.replies(Flow::Hold);
    invalidate(&writer, "a").await;
    eventually(|| !there.status().hears && !there.status().usable).await;
    assert_eq!(held(&reader, "a").await.as_deref(), Some("old"));
    there.proxy.cut();
    there.proxy.requests(Flow::Pass);
    there.proxy.replies(Flow::Pass);
    loop {
        let usable = there.status().usable;
        let held = done(held(&reader, "a")).await;
        if usable && there.status().usable {
            assert_eq!(held, None);
            return;
        }
        CLOCK.sleep(Duration::from_millis(1)).await;
    }
}

// C42: FusionCache's time-outs of the store do not count at the first try, with a stale local value in hand.
#[tokio::test]
async fn a_slow_server_costs_one_budget_where_memory_has_the_value() {
    let rig = Rig::new();
    let budget = Duration::from_millis(50);
    let here = rig.open_with(|builder| builder.redis_budget(budget)).await;
    let writer = rig.open_with(|builder| builder).await.cache();
    let local = Duration::from_millis(100);
    let cache = here.builder().stale_for(LIFE).local_time_to_live(local).build().unwrap();
    let mut measured = Vec::new();
    for round in 0..5 {
        eventually(|| here.status().usable && here.status().hears).await;
        let id = round.to_string();
        fill(&writer, &id, "A").await;
        remember(&cache, &id, "A").await;
        CLOCK.sleep(local * 2).await;
        here.proxy.replies(Flow::Delay(Duration::from_secs(10)));
        let began = CLOCK.now();
        let answer = Origin::ready().call(&cache, &id, Err("down")).await.unwrap();
        measured.push(CLOCK.now().since(began));
        assert_eq!(*answer.unwrap(), "A");
        here.proxy.cut();
        here.proxy.replies(Flow::Pass);
    }
    measured.sort_unstable();
    println!("server slow by 10 s, budget {budget:?}: answers after {measured:?}");
    assert!(measured[1] < budget * 4, "{measured:?}");
}

// C42: a value that is due is in memory, and nobody waits until it is known whether another process loads it.
#[tokio::test]
async fn a_slow_server_costs_nothing_where_memory_has_what_is_due() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let cache = here.builder().refresh(Refresh::Ahead(0.99)).build().unwrap();
    remember(&cache, "a", "A").await;
    CLOCK.sleep(LIFE / 50).await;
    here.proxy.replies(Flow::Delay(Duration::from_secs(10)));
    let (began, origin, before) = (CLOCK.now(), Origin::ready(), cache.stats());
    for _ in 0..20 {
        assert_eq!(*origin.call(&cache, "a", Ok("B")).await.unwrap().unwrap(), "A");
        CLOCK.sleep(Duration::from_millis(10)).await;
    }
    println!("server slow by 10 s: twenty answers, with pauses, after {:?}", CLOCK.now().since(began));
    assert_eq!((origin.calls(), cache.stats().store_hits), (0, before.store_hits));
}

// Q8: after one failed read BentoCache's key was locked for ever.
#[tokio::test]
async fn a_read_that_fails_leaves_its_key_in_order() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let (cache, origin) = (here.builder().lease(LIFE).build().unwrap(), Origin::ready());
    for round in 0..20 {
        let id = round.to_string();
        here.proxy.requests(Flow::Hold);
        let caller = origin.call(&cache, &id, Ok("A"));
        CLOCK.sleep(Duration::from_millis(1)).await;
        here.proxy.cut();
        here.proxy.requests(Flow::Pass);
        assert_eq!(*done(caller).await.unwrap().unwrap(), "A");
        eventually(|| here.status().usable && here.status().hears).await;
        assert!(done(origin.call(&cache, &id, Ok("A"))).await.unwrap().is_ok());
    }
}

// What is not confirmed is not to be read either, until it is.
#[tokio::test]
async fn a_change_that_is_not_confirmed_is_done_before_the_key_is_used_again() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    fill(&writer, "a", "old").await;
    here.proxy.refuse();
    here.proxy.cut();
    eventually(|| !here.status().usable).await;
    assert_eq!(writer.invalidate("a").await, Invalidated::Deferred);
    assert_eq!((held(&writer, "a").await, here.status().deferred), (None, 1));
    assert_eq!(held(&reader, "a").await.as_deref(), Some("old"));
    here.proxy.accept();
    while here.status().deferred > 0 {
        assert_eq!(held(&writer, "a").await, None);
        CLOCK.sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(held(&writer, "a").await, None);
    eventually(|| there.status().hears).await;
    CLOCK.sleep(Duration::from_millis(50)).await;
    assert_eq!(held(&reader, "a").await, None);
}
