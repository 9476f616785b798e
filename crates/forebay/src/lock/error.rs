//! Why a lock was not had, or not kept.

use std::time::Duration;

use crate::error::{Error, ErrorKind};

/// Says why a lock was not had, or not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody else held it for as long as the caller waited.
    #[error("the lock is held by somebody else; come back in {retry_after:?}")]
    Busy {
        /// When it is free at the latest, unless its holder renews it.
        retry_after: Duration,
    },
    /// The store cannot be asked: nobody knows whether somebody holds it. The caller does not. Or something stands in the
    /// lock's place that does not end ([`ErrorKind::Foreign`]).
    #[error(transparent)]
    Unavailable(Error),
    /// The caller had it, and lost it: the work was dropped.
    #[error("the lock was lost, and the work under it was dropped")]
    Lost,
    /// It was asked for in a way that could not work.
    #[error(transparent)]
    Invalid(Error),
}

pub(super) fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the store of the locks cannot be asked")
}

pub(super) fn stopping() -> Error {
    Error::new(ErrorKind::Unavailable, "this Forebay is being shut down and takes no more locks")
}

pub(super) fn late() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the answer came when the lock's life was as good as over; it was given back",
    )
}

pub(super) fn unconfirmed(confirmed: u32) -> Error {
    let why = format!("only {confirmed} replicas have confirmed the lock in time; it was given back");
    Error::new(ErrorKind::Unavailable, why)
}
