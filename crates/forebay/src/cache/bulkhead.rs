//! How many loads run at a time, and on whose permit a nested one runs.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::waits::FlightId;
use crate::context::Context;

tokio::task_local! {
    /// The load that the present task runs.
    static CURRENT: Parent;
}

/// The load in which a nested one is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parent {
    pub(crate) flight: FlightId,
    /// Whether it runs on a permit, its own or that of a load around it.
    pub(crate) permitted: bool,
}

impl Parent {
    /// The load around the present code; code in a task that a load has spawned has none.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(|parent| *parent).ok()
    }

    pub(crate) async fn scope<T>(self, load: impl Future<Output = T>) -> T {
        CURRENT.scope(self, load).await
    }
}

/// A bounded number of loads at a time.
#[derive(Debug, Clone)]
pub(crate) struct Bulkhead(Arc<Semaphore>);

/// A load's right to run.
#[derive(Debug)]
pub(crate) enum Permit {
    /// There is no bulkhead.
    Free,
    /// One of its own, given back when dropped.
    Own(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit),
    /// That of the load around it.
    Lent,
    /// One of several loads that are one call, given back when the last is dropped.
    Shared(#[expect(dead_code, reason = "held for its drop")] Arc<Permit>),
}

/// The permit of loads that are made by one call.
#[derive(Debug, Default)]
pub(crate) struct SharedPermit(tokio::sync::Mutex<Weak<Permit>>);

impl SharedPermit {
    /// As [`Bulkhead::enter`], with one permit for all who hold a part of it at the same time.
    pub(crate) async fn enter(
        &self,
        bulkhead: &Bulkhead,
        context: &Context,
        wait: Duration,
        lenders: &watch::Sender<usize>,
    ) -> Option<Permit> {
        let mut lending = lenders.subscribe();
        let mut held = tokio::select! {
            biased;
            held = self.0.lock() => held,
            lent = lending.wait_for(|lenders| *lenders > 0) => return lent.ok().map(|_| Permit::Lent),
            () = context.clock.sleep(wait) => return None,
            () = context.tasks.stopping() => return None,
        };
        let permit = match held.upgrade() {
            Some(permit) => permit,
            None => Arc::new(bulkhead.enter(context, wait, lenders).await?),
        };
        *held = Arc::downgrade(&permit);
        Some(Permit::Shared(permit))
    }
}

impl Permit {
    pub(crate) fn is_held(&self) -> bool {
        !matches!(self, Self::Free)
    }
}

impl Bulkhead {
    pub(crate) fn new(loads: usize) -> Self {
        Self(Arc::new(Semaphore::new(loads.min(Semaphore::MAX_PERMITS))))
    }

    /// Waits at most `wait` for a permit, or for a caller that lends its own; `None` when there was none.
    pub(crate) async fn enter(
        &self,
        context: &Context,
        wait: Duration,
        lenders: &watch::Sender<usize>,
    ) -> Option<Permit> {
        if let Ok(permit) = self.0.clone().try_acquire_owned() {
            return Some(Permit::Own(permit));
        }
        let mut lenders = lenders.subscribe();
        tokio::select! {
            permit = self.0.clone().acquire_owned() => permit.ok().map(Permit::Own),
            lent = lenders.wait_for(|lenders| *lenders > 0) => lent.ok().map(|_| Permit::Lent),
            () = context.clock.sleep(wait) => None,
            () = context.tasks.stopping() => None,
        }
    }
}
