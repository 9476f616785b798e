//! Builds one id from several named inputs.

mod canonical;
mod compound;
#[cfg(test)]
mod tests;

use serde::Serialize;

use self::compound::Object;
use super::digest;
use crate::error::{Error, ErrorKind};

/// Builds an id from several named inputs: the same inputs give the same id on every machine, for ever.
///
/// The id is the first half of the BLAKE3 hash, in hex, of one JSON object with the inputs as its members. The
/// object is written by RFC 8785 except that integers stay exact, so neither the order of `with`
/// nor that of a map's entries matters. Numbers count as they are written: `1` and `1.0` are the same input,
/// `1` and `"1"` are not. An `f32` counts as the `f64` of the same value.
///
/// # Example
///
/// ```
/// use forebay::Fingerprint;
///
/// let id = Fingerprint::new().with("user", &42)?.with("question", "Why?")?.finish();
/// assert_eq!(id, "42d4b68a5107f4e3192da41c4153fa9f");
/// # Ok::<(), forebay::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Fingerprint {
    inputs: Object,
}

impl Fingerprint {
    /// Starts without an input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input.
    ///
    /// # Errors
    ///
    /// A name that was used before is an error of kind [`ErrorKind::Config`], a value without a canonical form
    /// (NaN, infinity, an object with two members of one name) one of kind [`ErrorKind::Encode`].
    pub fn with<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Result<Self, Error> {
        if self.inputs.contains(name) {
            let message = format!("the fingerprint has an input {name:?} already: give each its own name");
            return Err(Error::new(ErrorKind::Config, message));
        }
        self.inputs.insert(name, value).map_err(|reason| {
            let message = format!("the input {name:?} cannot be part of a fingerprint: {reason}");
            Error::new(ErrorKind::Encode, message)
        })?;
        Ok(self)
    }

    /// Gives the id: 32 lower-case hex digits.
    #[must_use]
    pub fn finish(self) -> String {
        digest(self.inputs.finish().as_bytes())
    }
}
