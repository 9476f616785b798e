//! Callers that go away at an await: dropped after so many polls.

use std::{
    future::Future,
    pin::pin,
    task::Poll::{Pending, Ready},
};

/// What `work` ends with, unless it has not ended after `polls` polls: then it is dropped.
pub(crate) async fn within_polls<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    within_polls_and(polls, work, std::future::ready(())).await
}

/// As [`within_polls`], but drops it only after `a_while`, in which what it has asked is carried out and answered.
pub(crate) async fn within_polls_and<T>(
    polls: usize,
    work: impl Future<Output = T>,
    a_while: impl Future<Output = ()>,
) -> Option<T> {
    let (mut work, mut left) = (pin!(work), polls);
    let done = std::future::poll_fn(|context| {
        if left == 0 {
            return Ready(None);
        }
        left -= 1;
        match work.as_mut().poll(context) {
            Ready(done) => Ready(Some(done)),
            Pending if left == 0 => Ready(None),
            Pending => Pending,
        }
    })
    .await;
    if done.is_none() {
        a_while.await;
    }
    done
}
