//! Whom a count counts.

use super::{error, record, today, unique};
use crate::rig::{Rig, SECOND};

pub(crate) async fn who_comes_often_is_one_visitor(rig: impl Rig) {
    let unique = unique(&rig);
    assert_eq!(today(&unique).await, 0);
    for _ in 0..3 {
        record(&unique, [1, 2, 1, 1]);
        assert_eq!(today(&unique).await, 2);
        rig.pass(SECOND * 400).await;
    }
}

pub(crate) async fn every_odd_id_is_a_visitor_of_its_own(rig: impl Rig) {
    let unique = unique(&rig);
    let long = "x".repeat(100_000);
    let longer = format!("{long}x");
    let ids = ["", " ", "%", "a", "a ", "A", "{a}", "\0", "a\0", "\r\n", "äöü", "🦀", &long, &longer];
    for _ in 0..2 {
        ids.iter().for_each(|id| unique.record(id));
        assert_eq!(today(&unique).await, ids.len() as u64);
    }
}

pub(crate) async fn counters_share_nothing(rig: impl Rig) {
    let [one, other] = ["one", "other"].map(|name| rig.forebay().unique(name).build().unwrap());
    record(&one, 0..3);
    record(&other, 2..4);
    assert_eq!((today(&one).await, today(&other).await), (3, 2));
    assert_eq!((one.counter(), other.keep_days()), ("one", 8));
}

pub(crate) async fn clones_are_one_counter(rig: impl Rig) {
    let unique = unique(&rig);
    let clone = unique.clone();
    record(&clone, 0..3);
    drop(clone);
    record(&unique, 2..5);
    assert_eq!(today(&unique).await, 5);
}

pub(crate) async fn counting_while_others_come_loses_nobody(rig: impl Rig) {
    let unique = unique(&rig);
    let come = (0..20).map(|task| {
        let unique = unique.clone();
        tokio::spawn(async move {
            for n in 0..50 {
                record(&unique, task * 1000 + n * 20..task * 1000 + n * 20 + 20);
                let count = today(&unique).await;
                assert!(count >= (n as u64 + 1) * 19, "{count} after {n} rounds");
            }
        })
    });
    futures::future::join_all(come.collect::<Vec<_>>()).await.into_iter().for_each(|end| end.unwrap());
    let count = today(&unique).await;
    assert!(error(count, 20_000) < 0.02, "{count}");
}

pub(crate) async fn nobody_is_dropped_and_nobody_waits_after_a_flush(rig: impl Rig) {
    let unique = unique(&rig);
    record(&unique, 0..2500);
    unique.flush().await.unwrap();
    let figures = unique.figures();
    assert_eq!((figures.pending, figures.dropped), (0, 0));
    unique.flush().await.unwrap();
    assert!(error(today(&unique).await, 2500) < 0.02);
}

pub(crate) async fn a_reader_counts_the_same_and_takes_no_place(rig: impl Rig) {
    let reader = || rig.forebay().unique("site").reader().unwrap();
    let before = reader();
    assert_eq!(before.today().await.unwrap().visitors, 0);
    let unique = unique(&rig);
    record(&unique, 0..3);
    for reader in [reader(), unique.reader()] {
        assert_eq!(reader.count_days(8).await.unwrap().visitors, 3);
        let today = reader.today().await.unwrap();
        assert_eq!((today.visitors, reader.count(today.to).await.unwrap()), (3, today));
        assert_eq!(reader.count_days(9).await.unwrap_err().kind(), forebay::ErrorKind::Config);
    }
}
