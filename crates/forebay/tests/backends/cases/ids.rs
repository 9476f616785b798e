//! Ids are what users choose: any text, each with a value of its own.

use std::{collections::HashMap, time::Duration};

use forebay::cache::Cache;
use proptest::{
    prelude::*,
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::rig::{Rig, fill, held};

/// Ids that have bitten somebody: separators, patterns, escapes, their own encodings, the edges of lengths.
pub(super) fn odd_ids() -> Vec<String> {
    let short = [
        "",
        "%",
        "%%",
        "%~",
        "%25",
        "%7B",
        "{",
        "}",
        "{}",
        "{a}",
        "a}",
        ":",
        "a:b",
        "v1:{a}",
        "*",
        "?",
        "[a]",
        "a*",
        "\\*",
        "/",
        "..",
        ".",
        "../a",
        "a/../b",
        "\0",
        "a\0",
        "\r\n",
        "\t",
        " ",
        "a ",
        " a",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "ä",
        "a\u{308}",
        "日本",
        "🙂",
        "\u{10ffff}",
        "NULL",
        "null",
        "0",
        "-1",
        "cache:rig:case:v1:{a}",
        "lease:rig:case:v1:{a}",
        "+",
        "%20",
        "a+b",
        "a%20b",
        "A",
        "a",
    ];
    let long = [199, 200, 201, 400, 1 << 20]
        .into_iter()
        .flat_map(|length| ["x", "%", "{", " "].map(|unit| unit.repeat(length)));
    let escaped = [66, 67, 68].map(|length| "{".repeat(length));
    let wide = [66, 67].map(|length| "日".repeat(length));
    short.map(str::to_owned).into_iter().chain(long).chain(escaped).chain(wide).collect()
}

/// Two caches, of which the second reads the store alone.
fn caches(rig: &impl Rig) -> [Cache<String>; 2] {
    let store = rig.builder("case:store").local_time_to_live(Duration::ZERO).build().unwrap();
    [rig.cache(), store]
}

/// Loads a value of its own for each of `ids`, then looks for all of them.
async fn each_has_its_own(cache: &Cache<String>, ids: &[String]) {
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(held(cache, id).await, None, "{id:.50?} is taken");
        fill(cache, id, &n.to_string()).await;
    }
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(held(cache, id).await, Some(n.to_string()), "{id:.50?}");
    }
}

// R45 in kind: ids with `{`, `}`, empty, 1 MiB.
pub(crate) async fn every_odd_id_has_a_value_of_its_own(rig: impl Rig) {
    for cache in caches(&rig) {
        each_has_its_own(&cache, &odd_ids()).await;
    }
}

pub(crate) async fn a_put_under_an_odd_id_changes_that_alone(rig: impl Rig) {
    let (cache, ids) = (rig.cache(), odd_ids());
    for id in &ids {
        cache.put(id, id.len().to_string()).await.unwrap();
    }
    for id in &ids {
        cache.put(id, "changed".to_owned()).await.unwrap();
        assert_eq!(held(&cache, id).await.as_deref(), Some("changed"), "{id:.50?}");
        cache.put(id, id.len().to_string()).await.unwrap();
    }
    for id in &ids {
        assert_eq!(held(&cache, id).await, Some(id.len().to_string()), "{id:.50?}");
    }
}

// "*" and "?" are no patterns, ".." leads nowhere.
pub(crate) async fn an_invalidate_of_an_odd_id_forgets_that_alone(rig: impl Rig) {
    for cache in caches(&rig) {
        let ids = odd_ids();
        for id in &ids {
            fill(&cache, id, "A").await;
        }
        for (n, id) in ids.iter().enumerate() {
            cache.invalidate(id).await;
            assert_eq!(held(&cache, id).await, None, "{id:.50?}");
            if let Some(next) = ids.get(n + 1) {
                assert_eq!(held(&cache, next).await.as_deref(), Some("A"), "{next:.50?}");
            }
        }
    }
}

pub(crate) async fn a_loader_is_given_the_id_as_the_caller_spelled_it(rig: impl Rig) {
    let cache = rig.cache();
    for id in odd_ids() {
        let echo = async |load: forebay::cache::Load<String>| Ok::<_, String>(load.id().to_owned());
        let answer = cache.get_or_load(&id, echo).await.unwrap();
        assert!(*answer == id || id.len() > 1000 && answer.len() == id.len(), "{id:.50?}");
    }
}

// LiteLLM, C61: one id never answers for another; here of texts made of what encodings are made of.
pub(crate) async fn no_two_ids_share_a_value(rig: impl Rig) {
    let (cache, mut runner) = (rig.cache(), TestRunner::deterministic());
    let ids = prop_oneof!["[%{}~a-c0-9: \\x00\u{e4}]{0,6}", "[%{ 7B]{60,70}", "[a%]{195,205}", ".{0,40}"];
    let mut given = HashMap::new();
    for n in 0..3000 {
        let id = ids.new_tree(&mut runner).unwrap().current();
        let value = given.entry(id.clone()).or_insert_with(|| n.to_string());
        fill(&cache, &id, value).await;
    }
    for (id, value) in given {
        assert_eq!(held(&cache, &id).await, Some(value), "{id:?}");
    }
}
