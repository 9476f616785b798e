//! The locks and atomics of the state machines: the standard library's, or the model checker's.

#[cfg(not(forebay_shuttle))]
pub(crate) use std::sync::atomic;
#[cfg(not(forebay_shuttle))]
use std::sync::{Mutex as Inner, MutexGuard};

#[cfg(forebay_shuttle)]
pub(crate) use shuttle::sync::atomic;
#[cfg(forebay_shuttle)]
use shuttle::sync::{Mutex as Inner, MutexGuard};

use std::sync::{PoisonError, TryLockError};

/// A mutex that a panic does not poison: every critical section of this crate leaves its state whole.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(Inner<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Inner::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing where somebody else has it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
