//! The name of one lease, known to its holder alone.

use std::{fmt, str::FromStr};

use crate::{
    dice::Dice,
    error::{Error, ErrorKind},
    token,
};

/// The name of one lease, to carry it over HTTP: [`Lease::into_token`](super::Lease::into_token) gives it out
/// and [`Cache::resume`](super::Cache::resume) takes it back.
///
/// Its text has 32 hexadecimal digits, behind a `u` where the lease is not shared, behind an `l` where only one
/// process knows of it; then a `-` and, in up to 16 such digits, the number of the space when the lease was granted, by
/// which what is filled in is invalidated together with others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    name: token::Token,
    scope: Scope,
    /// Zero where it is not told.
    number: u64,
}

/// Who knows of a lease.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Scope {
    /// The store.
    Shared,
    /// This process, while the store cannot be asked.
    Local,
    /// Nobody: for a while every caller loads for itself.
    Unshared,
}

impl Scope {
    const MARKS: [(&'static str, Self); 2] = [("u", Self::Unshared), ("l", Self::Local)];
}

impl Token {
    pub(crate) fn roll(dice: &Dice) -> Self {
        Self { name: token::Token::roll(dice), scope: Scope::Shared, number: 0 }
    }

    /// The same lease, told with the number of its space.
    pub(crate) fn with_number(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// The lease as the store knows it, and the number that goes with it.
    pub(crate) fn split(self) -> (Self, u64) {
        (Self { number: 0, ..self }, self.number)
    }

    /// The same name for a lease that the store does not know of.
    pub(crate) fn unshared(self) -> Self {
        Self { scope: Scope::Unshared, ..self }
    }

    /// The same name for a lease that only this process knows of.
    pub(crate) fn local(self) -> Self {
        Self { scope: Scope::Local, ..self }
    }

    /// Whether anybody but the holder knows of the lease.
    pub(crate) fn is_shared(self) -> bool {
        self.scope != Scope::Unshared
    }

    pub(crate) fn is_local(self) -> bool {
        self.scope == Scope::Local
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = Scope::MARKS.iter().find(|(_, scope)| *scope == self.scope).map_or("", |(mark, _)| mark);
        write!(f, "{mark}{}", self.name)?;
        if self.number == 0 { Ok(()) } else { write!(f, "-{:x}", self.number) }
    }
}

/// Shows the first digits only: who knows the whole token holds the lease.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

impl FromStr for Token {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let marked = Scope::MARKS.iter().find_map(|(mark, scope)| Some((text.strip_prefix(mark)?, *scope)));
        let (rest, scope) = marked.unwrap_or((text, Scope::Shared));
        let (digits, number) = match rest.split_once('-') {
            Some((digits, number)) => (digits, read_number(number)?),
            None => (rest, 0),
        };
        Ok(Self { name: digits.parse()?, scope, number })
    }
}

fn read_number(text: &str) -> Result<u64, Error> {
    let plain = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let number = u64::from_str_radix(text, 16).ok().filter(|number| plain && (1..=1 << 53).contains(number));
    let why = "a token of a lease ends as it was handed out: what is behind its `-` is no number of a space";
    number.ok_or_else(|| Error::new(ErrorKind::Config, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_its_text() {
        let token = Token::roll(&Dice::seeded(1));
        for token in [token, token.unshared(), token.local(), token.with_number(1 << 53)] {
            assert_eq!(token.to_string().parse::<Token>().unwrap(), token);
        }
    }

    #[test]
    fn other_texts_are_no_tokens() {
        for text in [
            "",
            "u",
            "l",
            "ul",
            "+0000000000000000000000000000000",
            "0000",
            "G0000000000000000000000000000000",
            "00000000000000000000000000000000-",
            "00000000000000000000000000000000-0",
            "00000000000000000000000000000000-+1",
            "00000000000000000000000000000000-F",
            "00000000000000000000000000000000-20000000000001",
        ] {
            assert!(text.parse::<Token>().is_err(), "{text}");
        }
    }
}
