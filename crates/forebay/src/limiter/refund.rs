//! Reservations that are given back unless all of them are kept.

use futures::future::join_all;

use super::reservation::Reservation;

/// What was taken from some subjects while others are still asked. It is given back also when whoever asks goes away;
/// what the one that is being asked then takes ages out.
#[derive(Debug, Default)]
pub(super) struct Refunds(Vec<Reservation>);

impl Refunds {
    pub(super) fn add(&mut self, reservation: Reservation) {
        self.0.push(reservation);
    }

    /// Leaves everything taken.
    pub(super) fn keep(mut self) -> Vec<Reservation> {
        std::mem::take(&mut self.0)
    }

    /// Gives everything back, and waits until that is done.
    pub(super) async fn refund(mut self) {
        join_all(self.0.drain(..).map(Reservation::give_back)).await;
    }
}

impl Drop for Refunds {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|reservation| drop(reservation.give_back()));
    }
}
