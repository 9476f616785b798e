//! How a load fails: what its caller is told, and what a flight shares among callers of several types.

use std::{any::Any, error, fmt, sync::Arc, time::Duration};

/// Why there is no value. No failure of the store is among them.
///
/// `E` is the loader's own error.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError<E> {
    /// The loader failed with this error; everybody who waited for the load gets the same one.
    Failed(Arc<E>),
    /// A loader failed whose error this caller cannot be given: it ran in another process, a moment ago, or
    /// for a caller with another error type. The origin is left alone for `retry_after`.
    FailedElsewhere {
        /// When a new load may be tried.
        retry_after: Duration,
    },
    /// The loader did not finish within the space's `load_timeout`.
    TimedOut,
    /// The loader, or the codec of the space, panicked.
    Panicked,
    /// The loader waits, perhaps through other loads, for the key that it is to load.
    Recursive,
    /// Too many loads run already, or the `Forebay` shuts down, or the runtime it was built on is gone.
    Overloaded,
    /// The filter that guards the cache does not know the id: there is nothing to load.
    Filtered,
}

impl<E> Clone for LoadError<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Failed(error) => Self::Failed(error.clone()),
            Self::FailedElsewhere { retry_after } => Self::FailedElsewhere { retry_after: *retry_after },
            Self::TimedOut => Self::TimedOut,
            Self::Panicked => Self::Panicked,
            Self::Recursive => Self::Recursive,
            Self::Overloaded => Self::Overloaded,
            Self::Filtered => Self::Filtered,
        }
    }
}

impl<E: fmt::Display> fmt::Display for LoadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "the loader failed: {error}"),
            Self::FailedElsewhere { retry_after } => {
                write!(f, "a load of this key failed a moment ago; try again in {retry_after:?}")
            }
            Self::TimedOut => f.write_str("the loader did not finish in time"),
            Self::Panicked => f.write_str("the loader panicked"),
            Self::Recursive => f.write_str("the loader waits for the key that it loads"),
            Self::Overloaded => f.write_str(
                "no load could be run: too many run already, or this Forebay or its runtime has ended",
            ),
            Self::Filtered => f.write_str("the filter that guards the cache does not know the id"),
        }
    }
}

impl<E: error::Error + 'static> error::Error for LoadError<E> {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Failed(error) => Some(&**error),
            _ => None,
        }
    }
}

/// A [`LoadError`] before its caller's type is known.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    Error(Arc<dyn Any + Send + Sync>),
    Elsewhere(Duration),
    TimedOut,
    Panicked,
    Recursive,
    Overloaded,
}

impl Failure {
    /// What a caller is told whose loader fails with `E`; other errors than `E` become `FailedElsewhere`.
    pub(crate) fn into_error<E: Send + Sync + 'static>(self, failure_for: Duration) -> LoadError<E> {
        match self {
            Self::Error(error) => match error.downcast::<E>() {
                Ok(error) => LoadError::Failed(error),
                Err(_) => LoadError::FailedElsewhere { retry_after: failure_for },
            },
            Self::Elsewhere(retry_after) => LoadError::FailedElsewhere { retry_after },
            Self::TimedOut => LoadError::TimedOut,
            Self::Panicked => LoadError::Panicked,
            Self::Recursive => LoadError::Recursive,
            Self::Overloaded => LoadError::Overloaded,
        }
    }
}
