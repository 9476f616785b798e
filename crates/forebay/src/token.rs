//! A random name that only its holder knows: who shows it may end what was begun under it.

use std::{fmt, str::FromStr};

use crate::{
    dice::Dice,
    error::{Error, ErrorKind},
};

/// A random name of 128 bits, under which something is held: a lock, a claim, the right to run once.
///
/// Its text has 32 hexadecimal digits.
///
/// # Example
///
/// ```
/// use forebay::Token;
///
/// let token = Token::random();
/// assert_eq!(token.to_string().parse::<Token>()?, token);
/// # Ok::<(), forebay::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(u128);

impl Token {
    /// Makes a token that nobody else has.
    #[must_use]
    pub fn random() -> Self {
        Self::roll(&Dice::fair())
    }

    pub(crate) fn roll(dice: &Dice) -> Self {
        Self(dice.wide())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Shows the first digits only: who knows the whole token can act as its holder.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:08x}…)", self.0 >> 96)
    }
}

impl FromStr for Token {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let is_hex = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match u128::from_str_radix(text, 16) {
            Ok(number) if is_hex => Ok(Self(number)),
            _ => {
                let why =
                    "a token has 32 hexadecimal digits in lower case; send it exactly as it was handed out";
                Err(Error::new(ErrorKind::Config, why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_are_no_tokens() {
        for text in ["", "+0000000000000000000000000000000", "0000", "G0000000000000000000000000000000"] {
            assert!(text.parse::<Token>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_log_line_does_not_give_a_token_away() {
        let token = Token::roll(&Dice::seeded(1));
        assert!(!format!("{token:?}").contains(&token.to_string()[8..]));
    }
}
