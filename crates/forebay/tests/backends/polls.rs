//! Callers that go away at an await: dropped after so many polls.

use std::{
    future::Future,
    pin::pin,
    task::Poll::{Pending, Ready},
};

/// What `work` ends with, unless it has not ended after `polls` polls: then it is dropped.
pub(crate) async fn within_polls<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut left) = (pin!(work), polls);
    std::future::poll_fn(move |context| {
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
    .await
}
