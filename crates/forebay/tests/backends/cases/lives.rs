//! How long values live: in the store, in process memory, at both ends of what can be asked for.

use std::{collections::HashSet, time::Duration};

use forebay::cache::{Builder, Loaded, Lookup, OriginBreaker, Read, Source};

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, entry, fill, held, same, text};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn value(text: &str) -> Loaded<String> {
    Loaded::new(text.to_owned())
}

/// A space whose values live for `life`.
fn living(rig: &impl Rig, life: Duration) -> Builder<String> {
    rig.forebay().cache("case", life)
}

pub(crate) async fn the_longest_life_does_not_overflow(rig: impl Rig) {
    let longest = living(&rig, Duration::MAX).stale_for(Duration::MAX).jitter(0.99);
    let cache = longest.local_time_to_live(Duration::MAX).build().unwrap();
    for id in ["a", "b", "c", "d"] {
        fill(&cache, id, id).await;
        cache.put(id, value(id).time_to_live(Duration::MAX).stale_for(Duration::MAX)).await.unwrap();
    }
    rig.pass(DAY * 30).await;
    for id in ["a", "b", "c", "d"] {
        assert_eq!(held(&cache, id).await.as_deref(), Some(id));
    }
    cache.expire("a").await;
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().fails("down")).await), "a");
}

pub(crate) async fn the_longest_spans_do_not_overflow(rig: impl Rig) {
    let longest = Duration::MAX;
    let rule = OriginBreaker { failures: 1, window: longest, pause: longest };
    let spans = rig.builder("case").stale_for(SECOND).absent_for(longest).load_timeout(longest);
    let spans = spans.patience(longest).lease(longest).wait(longest).failure_for(longest);
    let cache = spans.origin_breaker(rule).build().unwrap();
    let origin = Origin::paused();
    let caller = call(&cache, "a", origin.gives("A"));
    rig.pass(SECOND).await;
    origin.let_go();
    assert_eq!(text(&at_once(&rig, caller).await), "A");
    let Lookup::Lease(mut lease) = cache.lookup("b", longest).lease(longest).await else {
        panic!("no lease")
    };
    assert_eq!(lease.renew(longest).await, forebay::cache::Returned::Done);
    assert_eq!(lease.fail().await, forebay::cache::Returned::Done);
    cache.put_absent("c").await.unwrap();
    rig.pass(SECOND).await;
    assert!(matches!(cache.lookup("b", longest).await, Lookup::Failed { .. }));
    assert!(matches!(cache.read("c").await, Read::Absent));
}

pub(crate) async fn a_life_that_no_store_can_hold_is_refused_by_name(rig: impl Rig) {
    for life in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(999)] {
        let builders = [
            ("time_to_live", living(&rig, life)),
            ("absent_for", living(&rig, LIFE).absent_for(life)),
            ("load_timeout", living(&rig, LIFE).load_timeout(life)),
            ("failure_for", living(&rig, LIFE).failure_for(life)),
            ("lease", living(&rig, LIFE).lease(life)),
        ];
        for (option, builder) in builders {
            let refusal = builder.build().unwrap_err().to_string();
            assert!(refusal.contains(option) && refusal.contains("case"), "{refusal}");
        }
    }
}

pub(crate) async fn a_jitter_that_is_no_share_is_refused(rig: impl Rig) {
    for share in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
        let refusal = rig.builder("case").jitter(share).build().unwrap_err().to_string();
        assert!(refusal.contains("jitter"), "{refusal}");
    }
}

pub(crate) async fn the_shortest_life_is_one(rig: impl Rig) {
    let millisecond = Duration::from_millis(1);
    let cache = living(&rig, millisecond).jitter(0.9).build().unwrap();
    for _ in 0..20 {
        fill(&cache, "a", "A").await;
        rig.pass(millisecond * 2).await;
        assert_eq!(held(&cache, "a").await, None);
    }
    assert_eq!(cache.stats().fills, 20);
}

pub(crate) async fn a_life_of_thirty_days_ends_on_its_day(rig: impl Rig) {
    let cache = living(&rig, DAY * 30).jitter(0.0).build().unwrap();
    fill(&cache, "a", "A").await;
    rig.pass(DAY * 30 - SECOND).await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
    rig.pass(SECOND).await;
    assert_eq!(held(&cache, "a").await, None);
}

// C35: a token that says itself when it ends does not get a longer life, nor one that varies.
pub(crate) async fn a_value_with_a_life_of_its_own_keeps_to_it(rig: impl Rig) {
    let cache = rig.builder("case").jitter(0.5).build().unwrap();
    for (id, life) in [("short", SECOND * 10), ("long", LIFE * 10)] {
        let loaded = async move |_| Ok::<_, String>(value(id).time_to_live(life));
        cache.get_or_load(id, loaded).await.unwrap();
        rig.settle().await;
        let left = entry(&cache, id).await.fresh_for;
        assert!(same(&rig, left, life), "{left:?}");
        rig.pass(life - SECOND).await;
        assert_eq!(held(&cache, id).await.as_deref(), Some(id));
        rig.pass(SECOND).await;
        assert_eq!(held(&cache, id).await, None);
    }
}

pub(crate) async fn a_value_keeps_its_own_stale_life(rig: impl Rig) {
    let cache = rig.cache();
    cache.put("a", value("A").stale_for(LIFE)).await.unwrap();
    rig.pass(LIFE + SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().fails("down")).await), "A");
}

// C35: a token that has ended already.
pub(crate) async fn a_value_without_a_life_is_handed_out_and_not_stored(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    for _ in 0..3 {
        let ended = origin.answers(Ok::<_, String>(value("A").time_to_live(Duration::ZERO)));
        assert_eq!(*cache.get_or_load("a", ended).await.unwrap(), "A");
    }
    assert_eq!((origin.calls(), held(&cache, "a").await), (3, None));
}

pub(crate) async fn a_value_that_is_not_to_be_stored_is_handed_to_all_who_wait(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let callers = [(); 5].map(|()| {
        let (cache, once) = (cache.clone(), origin.answers(Ok::<_, String>(value("A").do_not_store())));
        tokio::spawn(async move { cache.get_or_load("a", once).await })
    });
    rig.settle().await;
    origin.let_go();
    for caller in callers {
        assert_eq!(text(&at_once(&rig, caller).await), "A");
    }
    assert_eq!((origin.calls(), held(&cache, "a").await), (1, None));
}

pub(crate) async fn process_memory_ends_before_the_store(rig: impl Rig) {
    let cache = rig.builder("case").local_time_to_live(SECOND).build().unwrap();
    fill(&cache, "a", "A").await;
    rig.settle().await;
    assert_eq!(entry(&cache, "a").await.source, Source::Memory);
    rig.pass(SECOND).await;
    assert_eq!(entry(&cache, "a").await.source, Source::Store);
    assert_eq!(entry(&cache, "a").await.source, Source::Memory);
}

pub(crate) async fn process_memory_can_be_turned_off(rig: impl Rig) {
    let cache = rig.builder("case").local_time_to_live(Duration::ZERO).build().unwrap();
    fill(&cache, "a", "A").await;
    for _ in 0..3 {
        assert_eq!(entry(&cache, "a").await.source, Source::Store);
    }
    assert_eq!(cache.stats().memory_hits, 0);
}

pub(crate) async fn process_memory_holds_nothing_past_its_fresh_life(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).local_time_to_live(LIFE * 2).build().unwrap();
    cache.put("a", "A".to_owned()).await.unwrap();
    rig.pass(LIFE / 2).await;
    assert_eq!(entry(&cache, "a").await.source, Source::Store);
    rig.pass(LIFE / 2).await;
    assert!(matches!(cache.read("a").await, Read::Miss));
}

pub(crate) async fn what_is_stored_together_does_not_end_together(rig: impl Rig) {
    let cache = rig.builder("case").jitter(0.1).build().unwrap();
    let mut ends = HashSet::new();
    for n in 0..100 {
        let id = n.to_string();
        fill(&cache, &id, &id).await;
        let life = entry(&cache, &id).await.fresh_for;
        let slack = rig.slack();
        assert!(life + slack >= LIFE.mul_f64(0.9) && life <= LIFE.mul_f64(1.1), "{life:?}");
        ends.insert(life);
    }
    assert!(ends.len() > 50, "{}", ends.len());
}

pub(crate) async fn an_entry_tells_its_age_and_what_it_has_left(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).refresh(forebay::cache::Refresh::Stale).build().unwrap();
    cache.put("a", "A".to_owned()).await.unwrap();
    rig.pass(SECOND * 20).await;
    for source in [Source::Store, Source::Memory] {
        let entry = entry(&cache, "a").await;
        assert_eq!(entry.source, source);
        let told = same(&rig, entry.age, SECOND * 20) && same(&rig, entry.fresh_for, SECOND * 40);
        assert!(told, "{entry:?}");
    }
    rig.pass(SECOND * 50).await;
    let stale = entry(&cache, "a").await;
    assert!(same(&rig, stale.age, SECOND * 70) && stale.fresh_for.is_zero(), "{stale:?}");
}

// C48, C55: nothing stays for ever, whether it is read or not.
pub(crate) async fn whatever_has_ended_is_swept_out_of_memory(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).absent_for(LIFE).build().unwrap();
    for n in 0..100 {
        let id = n.to_string();
        fill(&cache, &id, &id).await;
        cache.put_absent(format!("not {n}")).await.unwrap();
        cache.get_or_load(format!("down {n}"), Origin::ready().fails("down")).await.unwrap_err();
    }
    assert!(rig.forebay().local_bytes() > 0);
    rig.pass(DAY / 24).await;
    assert_eq!(rig.forebay().local_bytes(), 0);
}
