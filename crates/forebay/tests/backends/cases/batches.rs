//! Many ids at once: one call for what nobody has or loads, and an answer of its own for each.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use forebay::cache::{
    Abandoned, Answered, Batching, Builder, Filled, Load, LoadError, Loaded, Lookup, OriginBreaker, Part,
    Refresh,
};
use tokio::{sync::Semaphore, task::JoinHandle};

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, fill, held};

/// An origin of batches: remembers what it was asked for, and answers each call when it is let.
#[derive(Clone)]
struct Table {
    calls: Arc<Mutex<Vec<Vec<String>>>>,
    let_go: Arc<Semaphore>,
}

impl Table {
    fn ready() -> Self {
        Self { calls: Arc::default(), let_go: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)) }
    }

    fn paused() -> Self {
        Self { calls: Arc::default(), let_go: Arc::new(Semaphore::new(0)) }
    }

    fn let_go(&self) {
        self.let_go.add_permits(1);
    }

    /// What was asked for so far, each call in order of its ids.
    fn calls(&self) -> Vec<Vec<String>> {
        let mut calls = self.calls.lock().unwrap().clone();
        calls.iter_mut().for_each(|ids| ids.sort());
        calls
    }

    /// A cache over the table: of an id it has `of <id>`; ids by what begins with `fail`, `none` and `panic` do that.
    fn cache(&self, builder: Builder<String>) -> Batching<String, String> {
        builder.batch_loader(self.clone(), Self::answer).build().unwrap()
    }

    async fn answer(self, loads: Vec<Load<String>>) -> Result<Vec<(String, Part<String, String>)>, String> {
        let ids: Vec<_> = loads.iter().map(|load| load.id().to_owned()).collect();
        self.calls.lock().unwrap().push(ids.clone());
        self.let_go.acquire().await.unwrap().forget();
        assert!(!ids.contains(&"panic".to_owned()), "so it was asked");
        if ids.contains(&"fail all".to_owned()) {
            return Err("all".to_owned());
        }
        let known = ids.into_iter().filter(|id| !id.starts_with("none"));
        Ok(known.map(|id| (id.clone(), part(&id))).collect())
    }
}

fn part(id: &str) -> Part<String, String> {
    match id.starts_with("fail") {
        true => Part::from(Err::<String, _>(id.to_owned())),
        false => Part::from(format!("of {id}")),
    }
}

type Answers = Vec<(String, Answered<String, String>)>;

fn ask(cache: &Batching<String, String>, ids: &[String]) -> JoinHandle<Answers> {
    let (cache, ids) = (cache.clone(), ids.to_vec());
    tokio::spawn(async move { cache.get_many(ids).await })
}

fn named(names: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    names.into_iter().map(|name| name.to_string()).collect()
}

fn hundred() -> Vec<String> {
    (0..100).map(|n| format!("{n:02}")).collect()
}

fn value(answers: &Answers, place: usize) -> &str {
    answers[place].1.as_ref().unwrap().as_ref().unwrap()
}

pub(crate) async fn a_batch_is_one_call_for_what_no_level_has(rig: impl Rig) {
    let table = Table::ready();
    let (cache, ids) = (table.cache(rig.builder("case")), hundred());
    for id in &ids[..50] {
        fill(&cache, id, &format!("of {id}")).await;
    }
    rig.settle().await;
    let answers = at_once(&rig, ask(&cache, &ids)).await;
    for (place, id) in ids.iter().enumerate() {
        assert_eq!((&answers[place].0, value(&answers, place)), (id, &*format!("of {id}")));
    }
    assert_eq!(table.calls(), [ids[50..].to_vec()]);
    rig.settle().await;
    at_once(&rig, ask(&cache, &ids)).await;
    assert_eq!(table.calls().len(), 1);
}

pub(crate) async fn what_somebody_else_loads_is_waited_for_and_not_asked(rig: impl Rig) {
    let (table, origin) = (Table::ready(), Origin::paused());
    let (cache, ids) = (table.cache(rig.builder("case")), named(["a", "b", "c"]));
    let Lookup::Lease(lease) = cache.lookup("b", LIFE).lease(LIFE).await else { panic!("it is held") };
    let other = call(&cache, "c", origin.gives("C"));
    rig.settle().await;
    let batch = ask(&cache, &ids);
    rig.settle().await;
    rig.settle().await;
    // Without any time: those who wait do not hold up the others.
    assert_eq!(table.calls(), [["a"]]);
    assert_eq!(lease.fill("B".to_owned()).await.unwrap(), Filled::Stored);
    origin.let_go();
    let answers = at_once(&rig, batch).await;
    assert_eq!([0, 1, 2].map(|place| value(&answers, place)), ["of a", "B", "C"]);
    assert_eq!(at_once(&rig, other).await.unwrap().as_str(), "C");
    assert_eq!(table.calls().len(), 1);
}

pub(crate) async fn what_somebody_else_did_not_load_comes_in_a_later_call(rig: impl Rig) {
    let table = Table::ready();
    let cache = table.cache(rig.builder("case"));
    let Lookup::Lease(lease) = cache.lookup("b", LIFE).lease(LIFE).await else { panic!("it is held") };
    let batch = ask(&cache, &named(["a", "b"]));
    rig.settle().await;
    rig.settle().await;
    assert_eq!(table.calls(), [["a"]]);
    drop(lease);
    rig.pass(SECOND).await;
    assert_eq!(value(&at_once(&rig, batch).await, 1), "of b");
    assert_eq!(table.calls(), [["a"], ["b"]]);
}

pub(crate) async fn each_id_of_a_batch_has_its_own_answer(rig: impl Rig) {
    let table = Table::ready();
    let cache = table.cache(rig.builder("case").absent_for(LIFE));
    let ids = named(["a", "fail b", "none c", "a", "fail b"]);
    let answers = at_once(&rig, ask(&cache, &ids)).await;
    assert_eq!(answers.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), ids);
    for place in [0, 3] {
        assert_eq!(value(&answers, place), "of a");
    }
    for place in [1, 4] {
        let answer = &answers[place].1;
        assert!(matches!(answer, Err(LoadError::Failed(why)) if **why == "fail b"), "{answer:?}");
    }
    assert!(matches!(answers[2].1, Ok(None)));
    assert_eq!(table.calls(), [["a", "fail b", "none c"]]);
    rig.settle().await;
    // The absence is remembered, the failure has left its note.
    let again = at_once(&rig, ask(&cache, &ids)).await;
    assert!(matches!(again[1].1, Err(LoadError::FailedElsewhere { .. })) && matches!(again[2].1, Ok(None)));
    assert_eq!(table.calls().len(), 1);
}

pub(crate) async fn a_call_that_fails_does_so_for_each_of_its_ids(rig: impl Rig) {
    let cache = Table::ready().cache(rig.builder("case"));
    for (_, answer) in at_once(&rig, ask(&cache, &named(["a", "b", "fail all"]))).await {
        assert!(matches!(&answer, Err(LoadError::Failed(why)) if **why == "all"), "{answer:?}");
    }
}

pub(crate) async fn a_call_that_panics_does_so_for_each_of_its_ids_and_the_next_works(rig: impl Rig) {
    let cache = Table::ready().cache(rig.builder("case"));
    for (_, answer) in at_once(&rig, ask(&cache, &named(["a", "b", "panic"]))).await {
        assert!(matches!(answer, Err(LoadError::Panicked)), "{answer:?}");
    }
    rig.settle().await;
    assert_eq!(value(&at_once(&rig, ask(&cache, &named(["a"]))).await, 0), "of a");
}

pub(crate) async fn a_call_that_hangs_ends_for_each_of_its_ids(rig: impl Rig) {
    let table = Table::paused();
    let cache = table.cache(rig.builder("case").load_timeout(SECOND));
    let batch = ask(&cache, &named(["a", "b"]));
    rig.settle().await;
    rig.pass(2 * SECOND).await;
    for (_, answer) in at_once(&rig, batch).await {
        assert!(matches!(answer, Err(LoadError::TimedOut)), "{answer:?}");
    }
}

pub(crate) async fn an_id_that_is_invalidated_during_the_call_is_stored_nowhere_and_others_are(
    rig: impl Rig,
) {
    let table = Table::paused();
    let cache = table.cache(rig.builder("case"));
    let batch = ask(&cache, &named(["a", "b"]));
    rig.settle().await;
    rig.settle().await;
    assert_eq!(table.calls(), [["a", "b"]]);
    cache.invalidate("a").await;
    table.let_go();
    assert_eq!(value(&at_once(&rig, batch).await, 0), "of a");
    rig.settle().await;
    assert_eq!(held(&cache, "a").await, None);
    assert_eq!(held(&cache, "b").await.as_deref(), Some("of b"));
}

pub(crate) async fn a_batch_takes_one_permit(rig: impl Rig) {
    let table = Table::paused();
    let cache = table.cache(rig.builder("case").load_concurrency(1));
    let batches = [ask(&cache, &hundred()), ask(&cache, &named(["x", "y"]))];
    rig.settle().await;
    rig.settle().await;
    assert_eq!(table.calls(), [hundred()]);
    table.let_go();
    rig.settle().await;
    rig.settle().await;
    assert_eq!(table.calls(), [hundred(), named(["x", "y"])]);
    table.let_go();
    for batch in batches {
        assert!(at_once(&rig, batch).await.iter().all(|(_, answer)| matches!(answer, Ok(Some(_)))));
    }
}

pub(crate) async fn a_call_that_nobody_waits_for_goes_on_and_is_stored(rig: impl Rig) {
    let table = Table::paused();
    let cache = table.cache(rig.builder("case"));
    let batch = ask(&cache, &named(["a", "b"]));
    rig.settle().await;
    rig.settle().await;
    batch.abort();
    rig.settle().await;
    table.let_go();
    rig.settle().await;
    rig.settle().await;
    for id in ["a", "b"] {
        assert_eq!(held(&cache, id).await, Some(format!("of {id}")));
    }
}

pub(crate) async fn a_call_is_cancelled_when_nobody_waits_for_any_of_its_ids(rig: impl Rig) {
    let table = Table::paused();
    let cache = table.cache(rig.builder("case").abandoned(Abandoned::Cancel));
    let batch = ask(&cache, &named(["a", "b"]));
    rig.settle().await;
    rig.settle().await;
    let other = call(&cache, "b", Origin::ready().gives("B"));
    rig.settle().await;
    batch.abort();
    rig.settle().await;
    // One of its ids is still wanted.
    table.let_go();
    assert_eq!(at_once(&rig, other).await.unwrap().as_str(), "of b");
    let batch = ask(&cache, &named(["c", "d"]));
    rig.settle().await;
    rig.settle().await;
    batch.abort();
    rig.settle().await;
    rig.settle().await;
    table.let_go();
    rig.settle().await;
    assert_eq!(
        (held(&cache, "a").await, held(&cache, "c").await, held(&cache, "d").await),
        (None, None, None)
    );
    // What was let go is still there: the call did not take it.
    assert_eq!(table.let_go.available_permits(), 1);
}

pub(crate) async fn stale_values_are_refreshed_by_the_call_that_loads_what_is_missing(rig: impl Rig) {
    let table = Table::ready();
    let cache = table.cache(rig.builder("case").stale_for(LIFE).refresh(Refresh::Stale));
    for id in ["a", "b"] {
        cache.put(id, "old".to_owned()).await.unwrap();
    }
    rig.pass(LIFE + SECOND).await;
    let answers = at_once(&rig, ask(&cache, &named(["a", "b", "c"]))).await;
    assert_eq!([0, 1, 2].map(|place| value(&answers, place)), ["old", "old", "of c"]);
    rig.settle().await;
    rig.settle().await;
    assert_eq!(table.calls(), [["a", "b", "c"]]);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("of a"));
}

const RULE: OriginBreaker =
    OriginBreaker { failures: 3, window: Duration::from_secs(10), pause: Duration::from_secs(20) };

pub(crate) async fn what_fails_in_one_call_is_one_failure_to_the_breaker(rig: impl Rig) {
    for (space, failing) in [("parts", "fail"), ("whole", "fail all"), ("panics", "panic")] {
        let table = Table::ready();
        let cache = table.cache(rig.builder(space).origin_breaker(RULE));
        for call in 0..2 {
            let ids = (0..20).map(|n| format!("fail {call} {n}")).chain([failing.to_owned()]);
            for (_, answer) in at_once(&rig, ask(&cache, &named(ids))).await {
                assert!(!matches!(answer, Ok(_) | Err(LoadError::FailedElsewhere { .. })), "{answer:?}");
            }
            rig.pass(2 * SECOND).await;
        }
        assert_eq!(value(&at_once(&rig, ask(&cache, &named(["a"]))).await, 0), "of a", "{space}");
    }
    let table = Table::paused();
    let cache = table.cache(rig.builder("hangs").origin_breaker(RULE).load_timeout(SECOND));
    let batch = ask(&cache, &named(["a", "b", "c", "d"]));
    rig.settle().await;
    rig.pass(2 * SECOND).await;
    for (_, answer) in at_once(&rig, batch).await {
        assert!(matches!(answer, Err(LoadError::TimedOut)), "{answer:?}");
    }
    table.let_go();
    assert_eq!(value(&at_once(&rig, ask(&cache, &named(["e"]))).await, 0), "of e");
}

pub(crate) async fn calls_that_fail_open_the_breaker_and_one_id_probes(rig: impl Rig) {
    let table = Table::ready();
    let cache = table.cache(rig.builder("case").origin_breaker(RULE));
    for call in 0..3 {
        at_once(&rig, ask(&cache, &named(["fail all".to_owned(), format!("{call}")]))).await;
        rig.pass(2 * SECOND).await;
    }
    let refused = at_once(&rig, ask(&cache, &named(["a", "b"]))).await;
    assert!(refused.iter().all(|(_, answer)| matches!(answer, Err(LoadError::FailedElsewhere { .. }))));
    assert_eq!(table.calls().len(), 3);
    rig.pass(RULE.pause).await;
    let probed = at_once(&rig, ask(&cache, &hundred())).await;
    assert_eq!(probed.iter().filter(|(_, answer)| answer.is_ok()).count(), 1);
    assert_eq!(table.calls()[3].len(), 1);
    let closed = at_once(&rig, ask(&cache, &named(["x", "y"]))).await;
    assert!(closed.iter().all(|(_, answer)| matches!(answer, Ok(Some(_)))));
}

// LiteLLM #5917, C61: a batch looked under another key than what had stored.
pub(crate) async fn a_batch_reads_what_was_put_under_whatever_id(rig: impl Rig) {
    let cache = rig.builder("case").local_time_to_live(Duration::ZERO).build().unwrap();
    let ids = super::ids::odd_ids();
    let entries = ids.iter().enumerate().map(|(n, id)| (id, Loaded::new(n.to_string())));
    let puts = cache.put_many(entries).await;
    assert!(puts.iter().all(|put| matches!(put, Ok(forebay::cache::Put::Stored))));
    let found = cache.get_many(&ids).await;
    for (n, (id, found)) in ids.iter().zip(found).enumerate() {
        assert_eq!(found.as_deref(), Some(&n.to_string()), "{id:.50?}");
        assert_eq!(held(&cache, id).await, Some(n.to_string()), "{id:.50?}");
    }
    cache.invalidate_many(&ids).await;
    assert!(cache.get_many(&ids).await.iter().all(Option::is_none));
}

pub(crate) async fn a_loader_is_asked_for_each_odd_id_once(rig: impl Rig) {
    let table = Table::ready();
    let cache = table.cache(rig.builder("case"));
    let ids: Vec<_> = super::ids::odd_ids().into_iter().filter(|id| id.len() < 1000).collect();
    let asked: Vec<_> = ids.iter().chain(&ids).cloned().collect();
    for (id, answer) in at_once(&rig, ask(&cache, &asked)).await {
        assert_eq!(*answer.unwrap().unwrap(), format!("of {id}"));
    }
    let distinct: HashSet<_> = ids.iter().collect();
    assert_eq!(table.calls().iter().map(Vec::len).collect::<Vec<_>>(), [distinct.len()]);
}

pub(crate) async fn one_loader_loads_several_ids_each_with_its_own_answer(rig: impl Rig) {
    let load = async |(), load: Load<String>| match load.id() {
        "b" => Err("no".to_owned()),
        id => Ok(format!("of {id}")),
    };
    let cache = rig.builder("case").loader((), load).build().unwrap();
    let answers = cache.get_many(["a", "b", "a"]).await;
    assert!(matches!(&answers[0], ("a", Ok(value)) if **value == "of a"), "{answers:?}");
    assert!(matches!(&answers[1], ("b", Err(LoadError::Failed(_)))), "{answers:?}");
    assert!(matches!(&answers[2], ("a", Ok(value)) if **value == "of a"), "{answers:?}");
    assert_eq!(cache.stats().loads, 2);
}
