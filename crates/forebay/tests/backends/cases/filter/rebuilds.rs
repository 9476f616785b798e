//! A filter that is filled anew while it is in use.

use std::time::Duration;

use forebay::{
    Error,
    filter::{Answer, Rebuilt},
};

use super::{Gate, fill, filter, may_be};
use crate::rig::{Rig, SECOND, at_once};

pub(crate) async fn a_rebuild_forgets_what_it_is_not_brought(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &["a", "b"]).await;
    known.add("c").await.unwrap();
    fill(&known, &["b", "d"]).await;
    assert_eq!(may_be(&known, &["a", "b", "c", "d"]).await, ["b", "d"]);
}

pub(crate) async fn until_its_end_the_old_one_answers(rig: impl Rig) {
    let (known, gate) = (filter(&rig), Gate::new());
    fill(&known, &["a"]).await;
    let looks = async {
        gate.waits().await;
        assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
        assert!(known.figures().await.unwrap().rebuilding);
        gate.let_go();
    };
    let (rebuilt, ()) = tokio::join!(gate.rebuild(&known, &["b"]), looks);
    assert_eq!(rebuilt.unwrap(), Rebuilt::Complete);
    assert_eq!(may_be(&known, &["a", "b"]).await, ["b"]);
    assert!(!known.figures().await.unwrap().rebuilding);
}

pub(crate) async fn what_is_added_during_a_rebuild_is_in_the_old_and_in_the_new(rig: impl Rig) {
    let (known, other, gate) = (filter(&rig), filter(&rig), Gate::new());
    fill(&known, &["a"]).await;
    assert_eq!(may_be(&other, &["a", "b"]).await, ["a"], "it knows the pointer of before");
    let adds = async {
        gate.waits().await;
        other.add("added").await.unwrap();
        assert_eq!(may_be(&known, &["a", "added", "b"]).await, ["a", "added"]);
        gate.let_go();
    };
    let (rebuilt, ()) = tokio::join!(gate.rebuild(&known, &["b"]), adds);
    assert_eq!(rebuilt.unwrap(), Rebuilt::Complete);
    other.add("after").await.unwrap();
    assert_eq!(may_be(&known, &["a", "added", "after", "b"]).await, ["added", "after", "b"]);
}

pub(crate) async fn of_two_rebuilds_one_runs(rig: impl Rig) {
    let (known, gate) = (filter(&rig), Gate::new());
    let second = async {
        gate.waits().await;
        let told = filter(&rig).rebuild(async |_| -> Result<(), Error> { panic!("it runs") }).await.unwrap();
        let Rebuilt::Running { retry_after } = told else { panic!("it is complete") };
        assert!(retry_after > Duration::ZERO && retry_after <= SECOND * 30, "{retry_after:?}");
        gate.let_go();
    };
    let (rebuilt, ()) = tokio::join!(gate.rebuild(&known, &["a"]), second);
    assert_eq!(rebuilt.unwrap(), Rebuilt::Complete);
    fill(&known, &["b"]).await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["b"]);
}

pub(crate) async fn a_rebuild_that_fails_changes_nothing(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &["a"]).await;
    let failed: Result<Rebuilt, Box<dyn std::error::Error>> = known
        .rebuild(async |fresh| {
            fresh.add_all(["b"]).await?;
            Err("the database went away".into())
        })
        .await;
    assert_eq!(failed.unwrap_err().to_string(), "the database went away");
    rig.settle().await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
    assert!(!known.figures().await.unwrap().rebuilding);
    fill(&known, &["c"]).await;
}

pub(crate) async fn a_rebuild_that_is_dropped_makes_room_for_the_next(rig: impl Rig) {
    let (known, gate) = (filter(&rig), Gate::new());
    fill(&known, &["a"]).await;
    tokio::select! {
        _ = gate.rebuild(&known, &["b"]) => unreachable!("nobody lets it go"),
        () = gate.waits() => {}
    }
    rig.settle().await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
    fill(&known, &["c"]).await;
    assert_eq!(may_be(&known, &["a", "b", "c"]).await, ["c"]);
}

pub(crate) async fn a_rebuild_asks_for_ids_once_all_that_was_added_before_is_visible(rig: impl Rig) {
    let known = rig.forebay().filter("known", 1_000, 1e-6).visible_within(SECOND * 5).build().unwrap();
    known.add("in a transaction").await.unwrap();
    let rebuild = {
        let known = known.clone();
        tokio::spawn(async move { known.rebuild(async |fresh| fresh.add_all(["a"]).await).await })
    };
    rig.settle().await;
    known.add("meanwhile").await.unwrap();
    rig.pass(SECOND * 4).await;
    assert_eq!(known.check("b").await, Answer::Maybe, "it has ended early");
    rig.pass(SECOND + SECOND / 10).await;
    assert_eq!(at_once(&rig, rebuild).await.unwrap(), Rebuilt::Complete);
    assert_eq!(may_be(&known, &["a", "b", "meanwhile"]).await, ["a", "meanwhile"]);
}

pub(crate) async fn a_long_rebuild_keeps_its_place(rig: impl Rig) {
    let (known, gate) = (filter(&rig), Gate::new());
    let waits = async {
        gate.waits().await;
        rig.pass(SECOND * 100).await;
        known.add("late").await.unwrap();
        gate.let_go();
    };
    let (rebuilt, ()) = tokio::join!(gate.rebuild(&known, &["a"]), waits);
    assert_eq!(rebuilt.unwrap(), Rebuilt::Complete);
    assert_eq!(may_be(&known, &["a", "b", "late"]).await, ["a", "late"]);
}

pub(crate) async fn a_rebuild_runs_in_a_task_of_its_own(rig: impl Rig) {
    let known = filter(&rig);
    let rebuild = {
        let known = known.clone();
        let pages = vec![vec!["a".to_owned()], vec!["b".to_owned()]];
        tokio::spawn(async move {
            let source = async |fresh: &forebay::filter::Rebuild| {
                for page in pages {
                    fresh.add_all(page).await?;
                }
                Ok::<_, Error>(())
            };
            known.rebuild(source).await
        })
    };
    assert_eq!(at_once(&rig, rebuild).await.unwrap(), Rebuilt::Complete);
    assert_eq!(may_be(&known, &["a", "b", "c"]).await, ["a", "b"]);
}
