//! One load for all who ask, and what becomes of it when some of them leave.

use futures::future::join_all;

use crate::rig::{Origin, Rig, call, text};

pub(crate) async fn a_thousand_callers_make_one_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let callers: Vec<_> = (0..1000).map(|_| call(&cache, "a", origin.gives("A"))).collect();
    rig.settle().await;
    origin.let_go();
    for answer in join_all(callers).await {
        assert_eq!(text(&answer.unwrap()), "A");
    }
    assert_eq!(origin.calls(), 1);
    assert_eq!(cache.stats().coalesced, 999);
}

// pingora #931, newchat #16, Q6, Q13: the first caller's leaving ended, failed or repeated the load of all.
pub(crate) async fn a_caller_that_leaves_harms_nobody(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let first = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let others: Vec<_> = (0..50).map(|_| call(&cache, "a", origin.gives("B"))).collect();
    rig.settle().await;
    first.abort();
    rig.settle().await;
    origin.let_go();
    for answer in join_all(others).await {
        assert_eq!(text(&answer.unwrap()), "A");
    }
    assert_eq!((origin.calls(), cache.stats().cancelled_waits), (1, 1));
}
