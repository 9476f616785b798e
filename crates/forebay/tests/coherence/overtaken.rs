//! Changes that overtake what another process reads, loads or refreshes at that moment.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    Error,
    cache::{Cache, Put, Refresh, Source},
    codec::{Codec, Json, Payload},
    dice::Dice,
    testing::Flow,
};
use futures::future::join_all;

use crate::rig::{CLOCK, LIFE, Origin, Process, Rig, done, eventually, fill, held, invalidate, source};

/// Has `change` in one process overtake a load in another; says what both have afterwards.
async fn during_a_load(change: impl AsyncFn(&Cache<String>)) -> [Option<String>; 2] {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (loads, changes, origin) = (here.cache(), there.cache(), Origin::paused());
    let loading = origin.call(&loads, "a", Ok("old"));
    eventually(|| origin.calls() == 1).await;
    change(&changes).await;
    origin.let_go();
    // It came before the change.
    assert_eq!(*done(loading).await.unwrap().unwrap(), "old");
    eventually(|| loads.stats().refused_fills == 1).await;
    [held(&loads, "a").await, held(&changes, "a").await]
}

// Q2, Q5, Q7, Q13, Q14, C2: a delete in another process during the load; the old value stayed.
#[tokio::test]
async fn an_invalidate_elsewhere_during_a_load_keeps_its_value_out() {
    let held = during_a_load(async |cache| invalidate(cache, "a").await).await;
    assert_eq!(held, [None, None]);
}

// Q2, Q5, C12: what a load brings late overwrites what was put in another process meanwhile.
#[tokio::test]
async fn a_put_elsewhere_during_a_load_stays() {
    let held = during_a_load(async |cache| {
        assert_eq!(cache.put("a", "new".to_owned()).await.unwrap(), Put::Stored);
    })
    .await;
    assert_eq!(held, [Some("new".to_owned()), Some("new".to_owned())]);
}

// A value whose load began before it was expired is stored nowhere, also if that was elsewhere.
#[tokio::test]
async fn an_expire_elsewhere_during_a_load_keeps_its_value_out() {
    let held = during_a_load(async |cache| {
        cache.expire("a").await;
    })
    .await;
    assert_eq!(held, [None, None]);
}

// C14: rockscache reads what was deleted, by default. No later caller gets it, not even while the old load still runs.
#[tokio::test]
async fn who_comes_after_an_invalidate_elsewhere_gets_nothing_from_before() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (loads, changes) = (here.cache(), there.cache());
    let (old, new) = (Origin::paused(), Origin::ready());
    let loading = old.call(&loads, "a", Ok("old"));
    eventually(|| old.calls() == 1).await;
    invalidate(&changes, "a").await;
    assert_eq!(*new.call(&changes, "a", Ok("new")).await.unwrap().unwrap(), "new");
    CLOCK.sleep(there.status().staleness_bound).await;
    assert_eq!(*done(new.call(&loads, "a", Ok("newer"))).await.unwrap().unwrap(), "new");
    old.let_go();
    assert_eq!(*done(loading).await.unwrap().unwrap(), "old");
    assert_eq!((held(&loads, "a").await, new.calls()), (Some("new".to_owned()), 1));
}

// C14: both modes of read-your-delete.
#[tokio::test]
async fn who_invalidates_reads_its_own_delete() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let cache = here.builder().stale_for(LIFE).refresh(Refresh::Stale).build().unwrap();
    for round in 0..100 {
        let (old, new) = (format!("{round} old"), format!("{round} new"));
        cache.put("a", old).await.unwrap();
        invalidate(&cache, "a").await;
        assert_eq!(held(&cache, "a").await, None);
        let fresh = cache.fresh().get_or_load("a", Origin::ready().answers(Ok(&new))).await.unwrap();
        assert_eq!((*fresh).clone(), new);
    }
}

// C1: FusionCache stores what a background load brings, although it was overtaken.
#[tokio::test]
async fn an_invalidate_elsewhere_during_a_refresh_keeps_its_value_out() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let space = |process: &Process| {
        let builder = process.forebay.cache::<String>("case", Duration::from_millis(50)).jitter(0.0);
        builder.stale_for(LIFE).refresh(Refresh::Stale).build().unwrap()
    };
    let (refreshes, changes, origin) = (space(&here), space(&there), Origin::paused());
    fill(&refreshes, "a", "old").await;
    while origin.calls() == 0 {
        CLOCK.sleep(Duration::from_millis(60)).await;
        assert_eq!(*origin.call(&refreshes, "a", Ok("late")).await.unwrap().unwrap(), "old");
    }
    invalidate(&changes, "a").await;
    origin.let_go();
    eventually(|| refreshes.stats().refused_fills == 1).await;
    assert_eq!((held(&refreshes, "a").await, held(&changes, "a").await), (None, None));
    assert_eq!(*origin.call(&refreshes, "a", Ok("new")).await.unwrap().unwrap(), "new");
}

/// A codec whose reads stand still until they are let go.
#[derive(Clone, Default)]
struct Gate {
    closed: Arc<AtomicBool>,
    reads: Arc<AtomicUsize>,
}

impl Codec<String> for Gate {
    fn id(&self) -> u8 {
        200
    }

    fn encode(&self, value: &String) -> Result<Payload, Error> {
        Json.encode(value)
    }

    fn decode(&self, payload: Payload) -> Result<String, Error> {
        self.reads.fetch_add(1, SeqCst);
        while self.closed.load(SeqCst) {
            tokio::task::block_in_place(|| std::thread::sleep(Duration::from_millis(1)));
        }
        Json.decode(payload)
    }
}

// C10: lettuce keeps what was read before an invalidation that came before the local put, with three readers.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn what_is_read_before_a_message_and_decoded_after_it_is_not_remembered() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let gate = Gate::default();
    let reader = here.builder().codec(gate.clone()).build().unwrap();
    let writer = there.builder().codec(Gate::default()).build().unwrap();
    for round in 0..10 {
        fill(&writer, "a", "old").await;
        gate.closed.store(true, SeqCst);
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let reader = reader.clone();
                tokio::spawn(async move { held(&reader, "a").await })
            })
            .collect();
        eventually(|| gate.reads.load(SeqCst) == (round + 1) * 3).await;
        invalidate(&writer, "a").await;
        CLOCK.sleep(Duration::from_millis(50)).await;
        gate.closed.store(false, SeqCst);
        for read in join_all(readers).await {
            assert_eq!(read.unwrap().as_deref(), Some("old"));
        }
        assert_eq!(held(&reader, "a").await, None, "round {round}");
    }
}

// C15: JetCache's local level is filled with the old value between its own removal and that in the store.
#[tokio::test]
async fn reads_around_an_invalidate_leave_nothing_old_in_memory() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (cache, other, dice) = (here.cache(), there.cache(), Dice::seeded(15));
    here.proxy.requests(Flow::Delay(Duration::from_millis(4)));
    here.proxy.replies(Flow::Delay(Duration::from_millis(4)));
    for round in 0..100 {
        let (id, writer) = (round.to_string(), if round % 2 == 0 { &cache } else { &other });
        other.put(&id, "old".to_owned()).await.unwrap();
        let readers: Vec<_> = (0..6)
            .map(|_| {
                let (cache, id) = (cache.clone(), id.clone());
                let pause = Duration::from_millis(dice.bits() % 16);
                tokio::spawn(async move {
                    CLOCK.sleep(pause).await;
                    held(&cache, &id).await
                })
            })
            .collect();
        CLOCK.sleep(Duration::from_millis(dice.bits() % 10)).await;
        invalidate(writer, &id).await;
        join_all(readers).await;
        CLOCK.sleep(Duration::from_millis(6)).await;
        assert_ne!(source(&cache, &id).await, Some(Source::Memory), "round {round}");
    }
}
