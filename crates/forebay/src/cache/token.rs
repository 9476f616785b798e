//! The name of one lease, known to its holder alone.

use std::{fmt, str::FromStr};

use crate::{
    dice::Dice,
    error::{Error, ErrorKind},
};

/// The name of one lease, to carry it over HTTP: [`Lease::into_token`](super::Lease::into_token) gives it out
/// and [`Cache::resume`](super::Cache::resume) takes it back.
///
/// Its text has 32 hexadecimal digits, behind a `u` where the lease is not shared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    number: u128,
    shared: bool,
}

impl Token {
    pub(crate) fn roll(dice: &Dice) -> Self {
        Self { number: dice.wide(), shared: true }
    }

    /// The same name for a lease that the store does not know of.
    pub(crate) fn unshared(self) -> Self {
        Self { shared: false, ..self }
    }

    pub(crate) fn is_shared(self) -> bool {
        self.shared
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.shared { "" } else { "u" };
        write!(f, "{mark}{:032x}", self.number)
    }
}

/// Shows the first digits only: who knows the whole token holds the lease.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:08x}…)", self.number >> 96)
    }
}

impl FromStr for Token {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (digits, shared) = match text.strip_prefix('u') {
            Some(digits) => (digits, false),
            None => (text, true),
        };
        let hex = digits.len() == 32 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match u128::from_str_radix(digits, 16) {
            Ok(number) if hex => Ok(Self { number, shared }),
            _ => Err(Error::new(
                ErrorKind::Config,
                "a lease token has 32 hexadecimal digits; send it exactly as it was handed out",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_its_text() {
        let token = Token::roll(&Dice::seeded(1));
        assert_eq!(token.to_string().parse::<Token>().unwrap(), token);
        assert_eq!(token.unshared().to_string().parse::<Token>().unwrap(), token.unshared());
    }

    #[test]
    fn other_texts_are_no_tokens() {
        for text in ["", "u", "+0000000000000000000000000000000", "0000", "G0000000000000000000000000000000"]
        {
            assert!(text.parse::<Token>().is_err(), "{text}");
        }
    }
}
