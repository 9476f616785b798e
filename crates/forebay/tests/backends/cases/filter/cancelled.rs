//! Futures that are dropped on their way: after each number of polls.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use super::{fill, filter, may_be};
use crate::rig::{Rig, SECOND};

/// Polls `work` so often; whether it has ended by then.
async fn polled(work: impl Future, times: usize) -> bool {
    let (mut work, mut left) = (pin!(work), times);
    poll_fn(|context| {
        if work.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        left -= 1;
        if left == 0 { Poll::Ready(false) } else { Poll::Pending }
    })
    .await
}

pub(crate) async fn a_rebuild_that_is_cancelled_at_any_await_leaves_nothing_that_blocks(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &["a"]).await;
    let mut ended = false;
    for times in 1..100 {
        let rebuild = known.rebuild(async |fresh| {
            fresh.add_all(["a"]).await?;
            tokio::task::yield_now().await;
            fresh.add_all(["b"]).await
        });
        ended = polled(rebuild, times).await;
        // For the takeback, which waits for an answer, and for what comes late.
        rig.settle().await;
        assert!(!known.figures().await.unwrap().rebuilding, "after {times} polls");
        fill(&known, &["a"]).await;
        assert_eq!(may_be(&known, &["a", "b"]).await, ["a"], "after {times} polls");
        if ended {
            break;
        }
    }
    assert!(ended, "it never ends");
    rig.pass(SECOND * 2).await;
    assert_eq!(may_be(&known, &["a", "b"]).await, ["a"]);
}

pub(crate) async fn an_add_that_is_cancelled_at_any_await_leaves_nothing_that_blocks(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &["a"]).await;
    let mut ended = false;
    for times in 1..100 {
        ended = polled(known.add_all(["b", "c"]), times).await;
        known.add("d").await.unwrap();
        assert_eq!(may_be(&known, &["a", "d", "e"]).await, ["a", "d"]);
        if ended {
            break;
        }
    }
    assert!(ended, "it never ends");
    assert_eq!(may_be(&known, &["b", "c"]).await, ["b", "c"]);
}
