//! The one error type of the library, opaque except for its kind.

use std::{convert::Infallible, error, fmt};

type Source = Box<dyn error::Error + Send + Sync>;

/// Says why an operation failed.
///
/// A refusal is not an error: "denied", "busy" and "miss" are outcomes of their own.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Source>,
}

/// Says what a caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A name, a setting or a call does not fit the configuration. Retrying does not help.
    Config,
    /// A value cannot be written in, or read from, its codec's form.
    Encode,
    /// A value is larger than its space allows.
    TooLarge,
    /// The store cannot be asked at present.
    Unavailable,
    /// Under a key of the store stands what Forebay did not write so, and it does not end by itself. The message names
    /// the key; somebody has to remove it.
    Foreign,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The failure of a custom codec: `message` says what it cannot write or read.
    #[must_use]
    pub fn codec(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Encode, message)
    }

    /// What those are told whom something under `key` keeps out that has no end.
    pub(crate) fn foreign(key: &str) -> Self {
        let why = format!(
            "the key {key} of the store has no end, so Forebay did not write it: it keeps everybody out until it is \
             removed; look whose it is, then DEL it"
        );
        Self::new(ErrorKind::Foreign, why)
    }

    pub(crate) fn with_source(self, source: impl error::Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Box::new(source)), ..self }
    }

    /// Says which kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn keeps_its_kind_and_its_source() {
        let error = Error::new(ErrorKind::Encode, "the value has no JSON form").with_source(fmt::Error);

        assert_eq!(error.kind(), ErrorKind::Encode);
        assert_eq!(error.to_string(), "the value has no JSON form");
        assert!(error.source().unwrap().is::<fmt::Error>());
    }
}
