//! Keeps a value out of process memory if a change has overtaken it on its way there.

use crate::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};

/// Counts how often process memory may have missed an invalidation: what was stored in an earlier epoch is
/// suspect. The number is odd while invalidations are not heard; what is stored then is suspect from the start.
#[derive(Debug, Default)]
pub(crate) struct Epoch(AtomicU32);

impl Epoch {
    #[inline]
    pub(crate) fn now(&self) -> u32 {
        self.0.load(SeqCst)
    }

    /// The first epoch, in which everything is heard, or nothing yet.
    pub(crate) fn new(hearing: bool) -> Self {
        Self(AtomicU32::new(u32::from(!hearing)))
    }

    /// Something was missed: makes all that is stored by now suspect.
    pub(crate) fn missed(&self) {
        self.0.fetch_add(2, SeqCst);
    }

    /// Nothing is heard from now on, or everything is: each makes suspect what was stored before.
    pub(crate) fn set_hearing(&self, hearing: bool) {
        let turn = |epoch: u32| (epoch.is_multiple_of(2) != hearing).then(|| epoch.wrapping_add(1));
        self.0.fetch_update(SeqCst, SeqCst, turn).ok();
    }
}

/// Raised before a value is asked for, cut by whatever overtakes it, passed when it enters process memory.
#[derive(Debug)]
pub(crate) struct Fence {
    epoch: u32,
    cut: Mutex<bool>,
}

impl Fence {
    pub(crate) fn raise(epoch: &Epoch) -> Self {
        Self { epoch: epoch.now(), cut: Mutex::new(false) }
    }

    /// Lets nothing pass from now on. Whoever cuts then removes what passed before.
    pub(crate) fn cut(&self) {
        *self.cut.lock() = true;
    }

    /// Whether a value could pass now.
    pub(crate) fn is_whole(&self, epoch: &Epoch) -> bool {
        !*self.cut.lock() && epoch.now() == self.epoch
    }

    /// Runs `store` if the fence is whole and the epoch still the same.
    ///
    /// The check and the store are one step: a cut comes before both, and then nothing is stored, or after
    /// both, and then the cutter finds what was stored.
    pub(crate) fn pass(&self, epoch: &Epoch, store: impl FnOnce(u32)) -> bool {
        let cut = self.cut.lock();
        let whole = !*cut && epoch.now() == self.epoch;
        if whole {
            // The even number before an odd one is no later epoch's.
            store(self.epoch & !1);
        }
        whole
    }
}
