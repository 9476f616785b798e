//! Invalidating by a pattern of ids.

use std::time::Duration;

use forebay::{
    ErrorKind,
    cache::{Cache, Filled, Lookup, Matched},
};
use futures::future::join_all;

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, fill, held, text};

/// A cache with process memory, and one without.
fn with_and_without_memory(rig: &impl Rig) -> [Cache<String>; 2] {
    let without = rig.builder("case:store").local_time_to_live(Duration::ZERO);
    [rig.cache(), without.build().unwrap()]
}

/// Invalidates by `pattern`, and says how many ids that was.
async fn forget(cache: &Cache<String>, pattern: &str) -> usize {
    match cache.invalidate_matching(pattern).await.unwrap() {
        Matched::Done { invalidated, deferred: 0, complete: true } => invalidated,
        other => panic!("it is not done: {other:?}"),
    }
}

async fn put_all(cache: &Cache<String>, ids: &[&str]) {
    join_all(ids.iter().map(|id| async move { cache.put(id, (*id).to_owned()).await.unwrap() })).await;
}

/// Which of `ids` have a value.
async fn kept<'a>(cache: &Cache<String>, ids: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    for id in ids {
        if held(cache, id).await.is_some() {
            kept.push(*id);
        }
    }
    kept
}

pub(crate) async fn what_matches_is_forgotten_and_nothing_else(rig: impl Rig) {
    const IDS: [&str; 5] = ["p-1", "p-2", "p-20", "q-1", "xp-1"];
    for cache in with_and_without_memory(&rig) {
        for (pattern, left) in
            [("p-?", vec!["p-20", "q-1", "xp-1"]), ("p-[^1]*", vec!["p-1", "q-1", "xp-1"]), ("*", vec![])]
        {
            put_all(&cache, &IDS).await;
            assert_eq!(kept(&cache, &IDS).await, IDS);
            assert_eq!(forget(&cache, pattern).await, IDS.len() - left.len(), "{pattern}");
            assert_eq!(kept(&cache, &IDS).await, left, "{pattern}");
        }
        assert_eq!(forget(&cache, "*").await, 0);
    }
}

pub(crate) async fn what_has_ended_is_not_counted(rig: impl Rig) {
    let cache = rig.cache();
    put_all(&cache, &["a", "b"]).await;
    assert_eq!(kept(&cache, &["a"]).await, ["a"]);
    rig.pass(LIFE + SECOND).await;
    assert_eq!(forget(&cache, "*").await, 0);
}

pub(crate) async fn an_absence_that_matches_is_forgotten(rig: impl Rig) {
    let cache = rig.builder("case").absent_for(LIFE).build().unwrap();
    cache.put_absent("a").await.unwrap();
    assert_eq!(forget(&cache, "a").await, 1);
    let found = cache.find_or_load("a", Origin::ready().finds(Some("A"))).await.unwrap();
    assert_eq!(found.unwrap().as_str(), "A");
}

pub(crate) async fn a_pattern_stays_in_its_space(rig: impl Rig) {
    // Where one name ends and what follows it begins is for the spelling of keys to say.
    let [own, version, part, same] =
        ["case", "case:v1", "case:p", "cas"].map(|name| rig.builder(name).build().unwrap());
    put_all(&own, &["a", "b"]).await;
    for cache in [&version, &part, &same] {
        put_all(cache, &["a", "c"]).await;
    }
    assert_eq!(forget(&own, "*").await, 2);
    for cache in [&version, &part, &same] {
        assert_eq!(kept(cache, &["a", "c"]).await, ["a", "c"]);
    }
    for pattern in ["*}*", "a}:*", "../*", "*:v1:*", "{*", r"\*", "v1:{a"] {
        assert_eq!(forget(&version, pattern).await, 0, "{pattern}");
    }
}

pub(crate) async fn odd_ids_match_as_their_callers_spell_them(rig: impl Rig) {
    let cache = rig.cache();
    let too_long = "x".repeat(201);
    for (id, pattern, other) in [
        ("", "", "?"),
        ("a b", "a b", "a%20b"),
        ("{a}", "{?}", "%7B?%7D"),
        ("100%", "1*%", "100%25"),
        ("ü", "[ä-ü]", "??"),
        ("a*", r"a\*", r"a\?"),
        ("[x]", r"\[x]", "[x]"),
        (&*too_long, "", "x*"),
    ] {
        put_all(&cache, &[id]).await;
        assert_eq!(forget(&cache, other).await, 0, "{id} {other}");
        assert_eq!(kept(&cache, &[id]).await, [id]);
        let pattern = if pattern.is_empty() { "*" } else { pattern };
        // What is kept under a hash matches nothing.
        let found = usize::from(id != too_long);
        assert_eq!(forget(&cache, pattern).await, found, "{id} {pattern}");
        assert_eq!(kept(&cache, &[id]).await.is_empty(), id != too_long);
    }
}

pub(crate) async fn more_than_are_looked_at_together_are_all_found(rig: impl Rig) {
    let cache = rig.builder("case").local_time_to_live(Duration::ZERO).build().unwrap();
    let ids: Vec<_> = (0..1_200).map(|n| format!("n:{n}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    put_all(&cache, &ids).await;
    assert_eq!(forget(&cache, "n:*").await, ids.len());
    assert_eq!(kept(&cache, &ids).await, Vec::<&str>::new());
}

// C2: a value whose load had begun before the invalidation is stored nowhere.
pub(crate) async fn a_load_that_runs_is_overtaken_by_a_pattern(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        let origin = Origin::paused();
        let loading = call(&cache, "a", origin.gives("old"));
        while origin.calls() == 0 {
            rig.settle().await;
        }
        assert_eq!(forget(&cache, "[a]").await, 1);
        origin.let_go();
        assert_eq!(text(&at_once(&rig, loading).await), "old");
        rig.settle().await;
        assert_eq!(held(&cache, "a").await, None);
    }
}

pub(crate) async fn a_lease_is_lost_to_a_pattern(rig: impl Rig) {
    let cache = rig.cache();
    let Lookup::Lease(lease) = cache.lookup("a", Duration::ZERO).await else { panic!("nobody loads") };
    assert_eq!(forget(&cache, "?").await, 1);
    assert_eq!(lease.fill("old".to_owned()).await.unwrap(), Filled::Lost);
}

pub(crate) async fn an_invalidate_by_pattern_is_done_though_its_caller_leaves(rig: impl Rig) {
    let cache = rig.cache();
    put_all(&cache, &["a"]).await;
    let leaving = tokio::spawn({
        let cache = cache.clone();
        async move { cache.invalidate_matching("a").await }
    });
    tokio::task::yield_now().await;
    leaving.abort();
    while held(&cache, "a").await.is_some() {
        rig.settle().await;
    }
}

pub(crate) async fn a_pattern_that_is_none_is_refused(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "A").await;
    for pattern in ["", "[a", r"a\", "[]", &"a".repeat(1_001)] {
        let error = cache.invalidate_matching(pattern).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    }
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}
