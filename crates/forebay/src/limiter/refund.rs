//! Reservations that are given back unless all of them are kept.

use std::sync::Arc;

use futures::future::join_all;
use tokio::sync::oneshot;

use super::{Inner, reservation::Reservation};

/// What was taken from some subjects while others are still asked. It is given back also when whoever asks goes away.
#[derive(Debug)]
pub(super) struct Refunds {
    limiter: Arc<Inner>,
    held: Vec<Reservation>,
}

impl Refunds {
    pub(super) fn new(limiter: &Arc<Inner>) -> Self {
        Self { limiter: limiter.clone(), held: Vec::new() }
    }

    pub(super) fn add(&mut self, reservation: Reservation) {
        self.held.push(reservation);
    }

    /// Leaves everything taken.
    pub(super) fn keep(mut self) {
        self.held.clear();
    }

    /// Gives everything back, and waits until that is done.
    pub(super) async fn refund(mut self) {
        if let Some(done) = self.begin() {
            done.await.ok();
        }
    }

    fn begin(&mut self) -> Option<oneshot::Receiver<()>> {
        if self.held.is_empty() {
            return None;
        }
        let (end, done) = oneshot::channel();
        let settled = std::mem::take(&mut self.held).into_iter().map(|reservation| reservation.settle(0));
        let work = join_all(settled);
        self.limiter.tasks.spawn(async move {
            // What the store did not answer counts as spent, and ages out.
            work.await;
            end.send(()).ok();
        });
        Some(done)
    }
}

impl Drop for Refunds {
    fn drop(&mut self) {
        self.begin();
    }
}
