//! What a filter says.

use std::time::Duration;

use forebay::{ErrorKind, filter::Answer};

use super::{fill, filter, may_be, sized};
use crate::rig::Rig;

pub(crate) async fn a_filter_that_was_never_filled_says_maybe(rig: impl Rig) {
    let known = filter(&rig);
    assert_eq!(known.check("a").await, Answer::Maybe);
    known.add("b").await.unwrap();
    assert_eq!(known.check("a").await, Answer::Maybe);
    let figures = known.figures().await.unwrap();
    assert_eq!((figures.complete, figures.rebuilding, figures.ids), (false, false, 0));
}

pub(crate) async fn what_was_brought_or_added_may_be_and_nothing_else(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &["a", "b"]).await;
    known.add("c").await.unwrap();
    known.add_all(["d", "e"]).await.unwrap();
    assert_eq!(may_be(&known, &["a", "b", "c", "d", "e", "f", "g", "A"]).await, ["a", "b", "c", "d", "e"]);
    assert!(known.check("f").await.is_no());
    assert!(!known.check("a").await.is_no());
}

pub(crate) async fn an_empty_origin_makes_a_filter_that_knows_nothing(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &[]).await;
    assert_eq!(known.check("a").await, Answer::No);
    known.add("a").await.unwrap();
    assert_eq!(known.check("a").await, Answer::Maybe);
}

pub(crate) async fn every_odd_id_is_known_by_itself(rig: impl Rig) {
    let long = "x".repeat(5_000);
    let odd = ["", " ", "{}", "%", "a|b", "1|0 0", "\0", "ü", "a\r\nb", "p-001", &long];
    for id in odd {
        let known = filter(&rig);
        fill(&known, &[id]).await;
        assert_eq!(may_be(&known, &odd).await, [id]);
    }
}

pub(crate) async fn filters_share_nothing(rig: impl Rig) {
    let (known, other) = (filter(&rig), rig.forebay().filter("other", 1_000, 1e-6));
    let other = other.visible_within(Duration::ZERO).build().unwrap();
    fill(&known, &["a"]).await;
    assert_eq!(other.check("b").await, Answer::Maybe, "it was never filled");
    fill(&other, &["b"]).await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
    assert_eq!(may_be(&other, &["a", "b"]).await, ["b"]);
}

pub(crate) async fn whoever_builds_it_again_uses_the_same(rig: impl Rig) {
    fill(&filter(&rig), &["a"]).await;
    filter(&rig).add("b").await.unwrap();
    assert_eq!(may_be(&filter(&rig), &["a", "b", "c"]).await, ["a", "b"]);
}

// B3: "config changed" for whoever comes with other parameters.
pub(crate) async fn other_parameters_are_those_of_the_next_rebuild(rig: impl Rig) {
    let (small, large) = (filter(&rig), sized(&rig, 100_000, 1e-8));
    fill(&small, &["a"]).await;
    let bytes = small.figures().await.unwrap().bytes;
    large.add("b").await.unwrap();
    assert_eq!(may_be(&large, &["a", "b", "c"]).await, ["a", "b"]);
    assert_eq!(large.figures().await.unwrap().bytes, bytes);
    fill(&large, &["a"]).await;
    small.add("d").await.unwrap();
    assert_eq!(may_be(&small, &["a", "b", "c", "d"]).await, ["a", "d"]);
    assert!(small.figures().await.unwrap().bytes > 10 * bytes);
}

/// Ids by number.
fn ids(from: u32, count: u32) -> impl Iterator<Item = String> {
    (from..from + count).map(|n| format!("id-{n}"))
}

pub(crate) async fn at_capacity_it_is_mistaken_as_seldom_as_was_asked(rig: impl Rig) {
    const IDS: u32 = 100_000;
    for rate in [0.1, 0.01, 0.001] {
        let known = sized(&rig, IDS.into(), rate);
        let _done = known.rebuild(async |fresh| fresh.add_all(ids(0, IDS / 2)).await).await.unwrap();
        known.add_all(ids(IDS / 2, IDS / 2)).await.unwrap();
        let denied = known.check_all(ids(0, IDS)).await.iter().filter(|answer| answer.is_no()).count();
        assert_eq!(denied, 0, "at {rate}");
        let answers = known.check_all(ids(IDS, 2 * IDS)).await;
        let mistaken = answers.iter().filter(|answer| !answer.is_no()).count() as f64 / f64::from(2 * IDS);
        println!("{mistaken} at {rate}");
        assert!(mistaken <= 1.2 * rate, "{mistaken} at {rate}");
    }
}

pub(crate) async fn its_figures_tell_how_full_it_is(rig: impl Rig) {
    let known = sized(&rig, 10_000, 0.01);
    fill(&known, &[]).await;
    let empty = known.figures().await.unwrap();
    assert_eq!((empty.complete, empty.rebuilding, empty.ids, empty.rate), (true, false, 0, 0.0));
    assert_eq!(empty.bytes, 11_984);
    known.add_all(ids(0, 10_000)).await.unwrap();
    let full = known.figures().await.unwrap();
    assert!((9_800..10_200).contains(&full.ids), "{full:?}");
    assert!((0.008..0.012).contains(&full.rate), "{full:?}");
}

pub(crate) async fn beyond_its_capacity_it_forgets_nobody_and_says_so(rig: impl Rig) {
    let known = sized(&rig, 100, 0.01);
    fill(&known, &[]).await;
    known.add_all(ids(0, 400)).await.unwrap();
    assert!(known.check_all(ids(0, 400)).await.iter().all(|answer| !answer.is_no()));
    let figures = known.figures().await.unwrap();
    assert!((350..450).contains(&figures.ids) && figures.rate > 0.5, "{figures:?}");
}

pub(crate) async fn many_ids_are_answered_in_their_order(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &["id-3", "id-700", "id-1402"]).await;
    let answers = known.check_all(ids(0, 1_500)).await;
    let known: Vec<_> = answers.iter().enumerate().filter(|(_, answer)| !answer.is_no()).collect();
    assert_eq!(known.into_iter().map(|(at, _)| at).collect::<Vec<_>>(), [3, 700, 1402]);
}

// B4: a capacity that cannot be held is no crash, and no filter that finds everything.
pub(crate) async fn a_filter_that_cannot_work_is_refused_when_built(rig: impl Rig) {
    let odd = [(0, 0.01), (10, 0.0), (10, 1.0), (10, f64::NAN), (1_000_000_000_000, 0.01)];
    for (capacity, rate) in odd {
        let refused = rig.forebay().filter("known", capacity, rate).build().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Config, "{refused}");
    }
    rig.forebay().filter("a name", 10, 0.01).build().unwrap_err();
    rig.forebay().filter("known", 10, 0.01).keep(Duration::ZERO).build().unwrap_err();
}
