//! The task of a counter, which sends what waits.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::RedisBackend;
use crate::{clock::Moment, tasks::Tasks, unique::backend::Backend};

/// For no longer does anybody wait, as long as the store can be asked.
const EVERY: Duration = Duration::from_secs(1);

/// For how long it is tried to send what waits when nobody has the counter any more.
const PARTING: Duration = Duration::from_secs(10);

/// Sends what waits, every second and in whole batches, until shutdown, which sends the rest, or until the counter is
/// `parted` from all who had it.
pub(in crate::unique) async fn keep_flushing(
    backend: Arc<RedisBackend>,
    parted: CancellationToken,
    tasks: Tasks,
) {
    tokio::select! {
        () = tasks.stopping() => {}
        () = backend.flush_until(parted) => {}
    }
}

impl RedisBackend {
    async fn flush_until(&self, parted: CancellationToken) {
        let mut left = None;
        loop {
            tokio::select! {
                () = self.due() => {}
                () = parted.cancelled(), if left.is_none() => left = Some(self.clock.now().after(PARTING)),
            }
            let failed = Backend::flush(self).await.is_err();
            if left.is_some_and(|left| self.is_over(left)) {
                return;
            }
            if failed {
                self.clock.sleep(EVERY).await;
            }
        }
    }

    /// Whether there is nothing to do any more; drops what cannot be sent.
    fn is_over(&self, left: Moment) -> bool {
        if self.figures().pending > 0 && self.clock.now() < left {
            return false;
        }
        drop_rest(self, self.counter.as_str());
        true
    }

    /// Completes a while after somebody began to wait, or with a whole batch.
    async fn due(&self) {
        while self.figures().pending == 0 {
            self.first.notified().await;
        }
        self.clock.timeout(EVERY, self.batch.notified()).await;
    }
}

/// Drops what waits, and says so.
pub(in crate::unique) fn drop_rest(backend: &dyn Backend, counter: &str) {
    let visitors = backend.close();
    if visitors > 0 {
        tracing::warn!(counter, visitors, "they are not counted: Redis could not be asked to");
    }
}
