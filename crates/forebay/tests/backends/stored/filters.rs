//! The keys of a filter: a pointer and a bitmap, which are of use together only and end by themselves.

use std::time::Duration;

use forebay::{
    Error, ErrorKind, Forebay,
    filter::{Answer, Filter, Rebuilt},
};

use super::Command;
use crate::{
    cases::filter::{Gate, fill, filter, may_be},
    clocked::{ClockedRig, Clocks},
    rig::{Rig, SECOND},
    server::Servers,
};

const DAY: Duration = Duration::from_hours(24);

/// A filter of another process.
fn elsewhere(forebay: &Forebay) -> Filter {
    forebay.filter("known", 1_000, 1e-6).visible_within(Duration::ZERO).build().unwrap()
}

impl<S: Clocks> ClockedRig<S> {
    fn pointer(&self) -> String {
        format!("filter:{}:{{known}}", self.0.app)
    }

    /// The bitmaps there are.
    fn bitmaps(&self) -> Vec<String> {
        let pattern = format!("{}:g*", self.pointer());
        let lists = self.0.servers.nodes().iter().map(|node| node.call(&["KEYS", &pattern]));
        lists
            .flat_map(|list| list.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|key| !key.is_empty())
            .collect()
    }

    fn bitmap(&self) -> String {
        let [bitmap] = self.bitmaps().try_into().unwrap();
        bitmap
    }
}

// B1: one of two keys ends, and the filter denies what it knows, or blocks.
pub(crate) async fn without_its_pointer_a_filter_says_maybe(rig: ClockedRig<impl Clocks>) {
    let known = filter(&rig);
    fill(&known, &["a"]).await;
    assert!(known.check("b").await.is_no());
    rig.call(&["DEL", &rig.pointer()]);
    assert_eq!(known.check("b").await, Answer::Maybe);
    known.add("c").await.unwrap();
    assert_eq!(rig.call(&["EXISTS", &rig.pointer()]), "0");
    assert!(!known.figures().await.unwrap().complete);
    fill(&known, &["a"]).await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
}

// B1, the other key: an addition that made it anew would make a bitmap with one id.
pub(crate) async fn without_its_bitmap_a_filter_says_maybe(rig: ClockedRig<impl Clocks>) {
    let known = filter(&rig);
    fill(&known, &["a"]).await;
    let bitmap = rig.bitmap();
    let odd: [Command<'_>; 4] = [
        &["DEL", &bitmap],
        &["SETRANGE", &bitmap, "9", "x"],
        &["LPUSH", &bitmap, "x"],
        &["SET", &bitmap, ""],
    ];
    for command in odd {
        rig.call(&["DEL", &bitmap]);
        rig.call(command);
        assert_eq!(may_be(&known, &["a", "b"]).await, ["a", "b"], "{command:?}");
        // Whether it fails is another matter.
        known.add("c").await.ok();
        assert_eq!(may_be(&known, &["a", "b"]).await, ["a", "b"], "{command:?}");
    }
    rig.call(&["DEL", &bitmap]);
    known.add_all((0..100).map(|n| n.to_string())).await.unwrap();
    assert_eq!(rig.call(&["EXISTS", &bitmap]), "0");
    fill(&known, &["a"]).await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
}

pub(crate) async fn a_bitmap_that_ends_during_a_rebuild_is_not_put_into_use(rig: ClockedRig<impl Clocks>) {
    let (known, gate) = (filter(&rig), Gate::new());
    let strike = async {
        gate.waits().await;
        rig.call(&["DEL", &rig.bitmap()]);
        known.add("added").await.unwrap();
        gate.let_go();
    };
    let (rebuilt, ()) = tokio::join!(gate.rebuild(&known, &["a"]), strike);
    assert_eq!(rebuilt.unwrap_err().kind(), ErrorKind::Unavailable);
    rig.settle().await;
    assert_eq!((known.check("b").await, rig.bitmaps()), (Answer::Maybe, Vec::new()));
}

pub(crate) async fn a_filter_is_two_keys_and_a_rebuild_one_more(rig: ClockedRig<impl Clocks>) {
    let (known, gate) = (filter(&rig), Gate::new());
    known.add("nowhere").await.unwrap();
    assert!(
        known.check("a").await == Answer::Maybe && rig.keys() == 0,
        "nothing is stored by a look or an addition"
    );
    fill(&known, &["a"]).await;
    let (keys, old) = (rig.keys(), rig.bitmap());
    let looks = async {
        gate.waits().await;
        assert_eq!((keys, rig.keys()), (2, 3));
        let new = rig.bitmaps().into_iter().find(|bitmap| *bitmap != old).unwrap();
        assert!((1..=30_000).contains(&rig.life(&new)), "{}", rig.life(&new));
        gate.let_go();
    };
    let (rebuilt, ()) = tokio::join!(gate.rebuild(&known, &["b"]), looks);
    assert_eq!((rebuilt.unwrap(), rig.keys()), (Rebuilt::Complete, 2));
    assert_ne!(rig.bitmap(), old);
    for key in [rig.pointer(), rig.bitmap()] {
        assert_eq!(rig.life(&key), DAY.as_millis() as i64 * 30, "{key}");
    }
}

pub(crate) async fn a_filter_that_nobody_uses_ends_and_one_in_use_does_not(rig: ClockedRig<impl Clocks>) {
    let known = filter(&rig);
    fill(&known, &["a"]).await;
    for _ in 0..20 {
        rig.pass(2 * DAY).await;
        assert!(known.check("b").await.is_no());
        known.add("c").await.unwrap();
    }
    rig.pass(29 * DAY).await;
    known.add("d").await.unwrap();
    rig.pass(29 * DAY).await;
    assert!(known.check("b").await.is_no());
    rig.pass(31 * DAY).await;
    assert_eq!((known.check("b").await, rig.keys()), (Answer::Maybe, 0));
}

pub(crate) async fn what_is_no_pointer_is_never_denied_by_and_is_replaced(rig: ClockedRig<impl Clocks>) {
    let known = filter(&rig);
    fill(&known, &["a"]).await;
    let pointer = rig.call(&["GET", &rig.pointer()]);
    for odd in ["abc", "2|x|y", "1|", &format!("{pointer}|x")] {
        rig.call(&["SET", &rig.pointer(), odd, "PX", "60000"]);
        assert_eq!(known.check("b").await, Answer::Maybe, "{odd}");
        // Another version may have a bitmap that this one does not know how to add to.
        assert_eq!(known.add("c").await.unwrap_err().kind(), ErrorKind::Unavailable, "{odd}");
        fill(&known, &["a"]).await;
        assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
    }
    for bitmap in rig.bitmaps() {
        rig.call(&["DEL", &bitmap]);
    }
}

pub(crate) async fn a_rebuild_whose_process_stands_still_keeps_nobody_out_for_long(
    rig: ClockedRig<impl Clocks>,
) {
    let (process, known) = (rig.process(Duration::ZERO).await, filter(&rig));
    let (still, gate) = (elsewhere(&process), Gate::new());
    let next = async {
        gate.waits().await;
        let told = known.rebuild(async |_| Ok::<_, Error>(())).await.unwrap();
        let Rebuilt::Running { retry_after } = told else { panic!("it was not kept out") };
        rig.pass(retry_after + SECOND).await;
        fill(&known, &["a"]).await;
        gate.let_go();
    };
    let (rebuilt, ()) = tokio::join!(gate.rebuild(&still, &["b"]), next);
    assert_eq!(rebuilt.unwrap_err().kind(), ErrorKind::Unavailable);
    rig.settle().await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
}

pub(crate) async fn an_id_has_the_same_bits_for_ever(rig: ClockedRig<impl Clocks>) {
    let known =
        rig.forebay().filter("known", 1_000_000, 0.01).visible_within(Duration::ZERO).build().unwrap();
    fill(&known, &["p-001"]).await;
    let bitmap = rig.bitmap();
    // By two halves of its BLAKE3, modulo 9,585,088: the place, and the step, which grows by 1, 2, 3, …
    for place in [173_388, 2_214_437, 4_255_487, 6_296_539, 8_337_594, 793_565, 2_834_629] {
        assert_eq!(rig.call(&["GETBIT", &bitmap, &place.to_string()]), "1", "{place}");
    }
    assert_eq!(rig.call(&["BITCOUNT", &bitmap]), "7");
}
