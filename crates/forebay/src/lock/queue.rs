//! Who waits for which lock in this process: one asks the store, the others stand behind in order.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{clock::Moment, hash::Seed, sync::Mutex};

/// The queues of all locks that somebody waits for.
#[derive(Debug, Default)]
pub(super) struct Queues(DashMap<Box<str>, Arc<Queue>, Seed>);

/// Those who wait for one lock.
#[derive(Debug)]
struct Queue {
    /// One place, given out in order.
    first: Arc<Semaphore>,
    /// When the lock is free at the latest, as the first one has heard.
    free_at: Mutex<Moment>,
}

/// Somebody in a queue, until this is dropped.
#[derive(Debug)]
pub(super) struct Ticket<'a> {
    queues: &'a Queues,
    name: &'a str,
    queue: Option<Arc<Queue>>,
}

impl Queues {
    pub(super) fn join<'a>(&'a self, name: &'a str) -> Ticket<'a> {
        let new = || Arc::new(Queue { first: Arc::new(Semaphore::new(1)), free_at: Mutex::default() });
        let queue = self.0.entry(name.into()).or_insert_with(new).clone();
        Ticket { queues: self, name, queue: Some(queue) }
    }
}

impl Ticket<'_> {
    fn queue(&self) -> &Queue {
        self.queue.as_ref().expect("it is taken only when the ticket is dropped")
    }

    /// Waits to be the first; `None` where the one before has found that the store cannot be asked.
    pub(super) async fn first(&self) -> Option<OwnedSemaphorePermit> {
        self.queue().first.clone().acquire_owned().await.ok()
    }

    /// Tells everybody behind that the store cannot be asked. Whoever comes later asks anew.
    pub(super) fn give_up(&self) {
        let own = self.queue();
        self.queues.0.remove_if(self.name, |_, queue| std::ptr::eq(&**queue, own));
        own.first.close();
    }

    /// Tells those behind when the lock is free at the latest.
    pub(super) fn tell(&self, free_at: Moment) {
        *self.queue().free_at.lock() = free_at;
    }

    pub(super) fn free_at(&self) -> Moment {
        *self.queue().free_at.lock()
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let Some(own) = self.queue.take() else { return };
        // The map has one, and this ticket: nobody else can come by another while the entry is locked.
        self.queues
            .0
            .remove_if(self.name, |_, queue| Arc::ptr_eq(queue, &own) && Arc::strong_count(queue) == 2);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn places_are_given_out_in_order_and_leave_nothing_behind() {
        let queues = Queues::default();
        let [first, second, third] = [queues.join("a"), queues.join("a"), queues.join("a")];
        let place = first.first().await;
        let (mut second_place, mut third_place) = (Box::pin(second.first()), Box::pin(third.first()));
        assert!(second_place.as_mut().now_or_never().is_none());
        assert!(third_place.as_mut().now_or_never().is_none());

        drop((place, first));
        assert!(third_place.as_mut().now_or_never().is_none());
        assert!(second_place.as_mut().now_or_never().is_some());
        drop((second_place, third_place));
        drop((second, third));
        assert!(queues.0.is_empty());
    }

    // L23: the head of the queue goes away.
    #[tokio::test]
    async fn whoever_goes_away_holds_nobody_up() {
        let queues = Queues::default();
        let tickets: Vec<_> = (0..50).map(|_| queues.join("a")).collect();
        let place = tickets[0].first().await;
        let mut waiting: Vec<_> = tickets[1..].iter().map(|ticket| Box::pin(ticket.first())).collect();
        for place in &mut waiting {
            assert!(place.as_mut().now_or_never().is_none());
        }
        drop(waiting.remove(0));
        drop(place);
        assert!(waiting[0].as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn those_behind_learn_that_the_store_cannot_be_asked() {
        let queues = Queues::default();
        let [first, second] = [queues.join("a"), queues.join("a")];
        let _place = first.first().await;
        first.give_up();
        assert!(second.first().await.is_none());
        assert!(queues.join("a").first().await.is_some());
        drop((first, second));
        assert!(queues.0.is_empty());
    }
}
