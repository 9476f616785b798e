//! Loading ahead: what is not fresh, at a bounded pace, whatever becomes of single ids.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use forebay::cache::{Batching, Builder, Cache, Load, Loading, Part, Progress, Refresh, Warming};
use tokio::sync::Semaphore;

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, fill, held};

const FAST: NonZeroU32 = NonZeroU32::MAX;

/// An origin of batches: remembers what it was asked for, and answers each call when it is let; fails for what begins
/// with `fail`.
#[derive(Clone)]
struct Table {
    calls: Arc<Mutex<Vec<Vec<String>>>>,
    let_go: Arc<Semaphore>,
}

impl Table {
    fn new(let_go: usize) -> Self {
        Self { calls: Arc::default(), let_go: Arc::new(Semaphore::new(let_go)) }
    }

    /// What was asked for so far, each call in order of its ids.
    fn calls(&self) -> Vec<Vec<String>> {
        let mut calls = self.calls.lock().unwrap().clone();
        calls.iter_mut().for_each(|ids| ids.sort());
        calls
    }

    fn cache(&self, builder: Builder<String>) -> Batching<String, String> {
        builder.batch_loader(self.clone(), Self::answer).build().unwrap()
    }

    async fn answer(self, loads: Vec<Load<String>>) -> Result<Vec<(String, Part<String, String>)>, String> {
        let ids: Vec<_> = loads.iter().map(|load| load.id().to_owned()).collect();
        self.calls.lock().unwrap().push(ids.clone());
        self.let_go.acquire().await.unwrap().forget();
        if ids.contains(&"fail all".to_owned()) {
            return Err("all".to_owned());
        }
        let part = |id: &String| match id.starts_with("fail") {
            true => Part::from(Err::<String, _>(id.clone())),
            false => Part::from(format!("of {id}")),
        };
        Ok(ids.iter().map(|id| (id.clone(), part(id))).collect())
    }
}

fn named(names: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    names.into_iter().map(|name| name.to_string()).collect()
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{n:03}")).collect()
}

/// Waits for the end of a warm-up, whose pauses are those of `rig`.
async fn end(rig: &impl Rig, warming: Warming) -> Progress {
    let ending = tokio::spawn(warming.end());
    for _ in 0..20 {
        if ending.is_finished() {
            break;
        }
        rig.settle().await;
        rig.pass(SECOND).await;
    }
    at_once(rig, ending).await
}

fn counts(progress: Progress) -> [usize; 5] {
    let Progress { total, done, hits, loaded, failed, .. } = progress;
    [total, done, hits, loaded, failed]
}

pub(crate) async fn what_is_not_fresh_is_loaded_ahead(rig: impl Rig) {
    let table = Table::new(Semaphore::MAX_PERMITS);
    let cache = table.cache(rig.builder("case").stale_for(LIFE).absent_for(2 * LIFE));
    fill(&cache, "stale", "old").await;
    cache.put_absent("absent").await.unwrap();
    rig.pass(LIFE + SECOND).await;
    fill(&cache, "fresh", "of fresh").await;
    rig.settle().await;
    let ids = named(["fresh", "missing", "absent", "stale", "missing"]);
    let progress = end(&rig, cache.warm(ids, FAST)).await;
    assert_eq!(counts(progress), [4, 4, 2, 2, 0]);
    assert_eq!(table.calls(), [["missing", "stale"]]);
    rig.settle().await;
    for id in ["fresh", "missing", "stale"] {
        assert_eq!(held(&cache, id).await, Some(format!("of {id}")));
    }
}

pub(crate) async fn what_is_stale_is_loaded_ahead_though_it_would_be_an_answer(rig: impl Rig) {
    for bound in [true, false] {
        let table = Table::new(Semaphore::MAX_PERMITS);
        let space = format!("case-{bound}");
        let builder = rig.builder(&space).stale_for(LIFE).refresh(Refresh::Stale);
        let ids = ["one", "fail"];
        let put = async |cache: &Cache<String>| {
            for id in ids {
                fill(cache, id, "old").await;
            }
            rig.pass(LIFE + SECOND).await;
        };
        let progress = match bound {
            true => {
                let cache = table.cache(builder);
                put(&cache).await;
                end(&rig, cache.warm(ids, FAST)).await
            }
            false => {
                let load = async |(), load: Load<String>| match load.id() {
                    "fail" => Err("fail".to_owned()),
                    id => Ok(format!("of {id}")),
                };
                let cache: Loading<String, String> = builder.loader((), load).build().unwrap();
                put(&cache).await;
                end(&rig, cache.warm(ids, FAST)).await
            }
        };
        assert_eq!(counts(progress), [2, 2, 0, 1, 1], "{bound}");
    }
}

pub(crate) async fn an_id_that_fails_stops_no_warm_up(rig: impl Rig) {
    let table = Table::new(Semaphore::MAX_PERMITS);
    let cache = table.cache(rig.builder("case"));
    // The first lot fails as a whole, and of the second two ids.
    let ids = [named(["fail all"]), numbered(98), named(["fail x", "fail y"])].concat();
    let progress = end(&rig, cache.warm(&ids, FAST)).await;
    assert_eq!(counts(progress), [101, 101, 0, 35, 66]);
    assert_eq!(table.calls().iter().map(Vec::len).collect::<Vec<_>>(), [64, 37]);
}

pub(crate) async fn a_warm_up_keeps_few_loads_under_way_and_tells_how_far_it_is(rig: impl Rig) {
    let origin = Origin::paused();
    let load = |origin: Origin, load: Load<String>| origin.gives("A")(load);
    let cache: Loading<String, String> = rig.builder("case").loader(origin.clone(), load).build().unwrap();
    let mut warming = cache.warm(numbered(100), FAST);
    assert_eq!(counts(warming.progress()), [100, 0, 0, 0, 0]);
    rig.settle().await;
    rig.pass(SECOND).await;
    assert_eq!((origin.calls(), counts(warming.progress())), (64, [100, 0, 0, 0, 0]));
    (0..64).for_each(|_| origin.let_go());
    let first = tokio::spawn(async move { (warming.next().await.map(counts), warming) });
    let (first, warming) = at_once(&rig, first).await;
    assert_eq!(first, Some([100, 64, 0, 64, 0]));
    (0..36).for_each(|_| origin.let_go());
    assert_eq!(counts(end(&rig, warming).await), [100, 100, 0, 100, 0]);
    assert_eq!(origin.calls(), 100);
}

pub(crate) async fn a_warm_up_keeps_its_pace(rig: impl Rig) {
    let table = Table::new(Semaphore::MAX_PERMITS);
    let cache = table.cache(rig.builder("case"));
    let warming = cache.warm(numbered(30), NonZeroU32::new(10).unwrap());
    let mut calls = Vec::new();
    // The pauses are a second each, more or less by up to a quarter.
    for span in [0, 700, 600, 300, 900, 10_000] {
        rig.pass(Duration::from_millis(span)).await;
        rig.settle().await;
        calls.push(table.calls().len());
    }
    assert!(calls[..2] == [1, 1] && calls[2] == 2 && calls[4..] == [3, 3], "{calls:?}");
    assert_eq!(counts(end(&rig, warming).await), [30, 30, 0, 30, 0]);
    assert!(table.calls().iter().all(|ids| ids.len() == 10));
}

pub(crate) async fn a_warm_up_that_is_dropped_loads_nothing_more(rig: impl Rig) {
    let table = Table::new(0);
    let cache = table.cache(rig.builder("case"));
    let warming = cache.warm(numbered(200), FAST);
    rig.settle().await;
    rig.settle().await;
    assert_eq!(table.calls().len(), 1);
    drop(warming);
    table.let_go.add_permits(10);
    for _ in 0..3 {
        rig.settle().await;
        rig.pass(SECOND).await;
    }
    assert_eq!(table.calls().len(), 1);
    // What was under way goes on and is stored.
    assert_eq!(held(&cache, "000").await.as_deref(), Some("of 000"));
    assert_eq!(held(&cache, "100").await, None);
}
