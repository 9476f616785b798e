//! The pointer of a filter: which bitmap is in use, and which one is to come.

use std::fmt;

use bytes::Bytes;

use crate::{filter::shape::Shape, token::Token};

/// The first part, which tells how the rest is spelled.
const FORM: &str = "1";

/// A pointer as it is stored: the form, the bitmap in use and the one to come, between bars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) text: Bytes,
    /// Whether it is in a form that is known.
    pub(super) legible: bool,
    pub(super) current: Option<Generation>,
    pub(super) next: Option<Generation>,
}

/// One bitmap: by whom it is or was made, for what, and under which server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Generation {
    pub(super) token: Token,
    pub(super) shape: Shape,
    /// The reign that it was made in; see `reign.lua`.
    pub(super) reign: String,
}

impl Pointer {
    /// Where nothing is stored.
    pub(super) fn none() -> Self {
        Self { text: Bytes::new(), legible: true, current: None, next: None }
    }

    pub(super) fn of(text: Bytes) -> Self {
        if text.is_empty() {
            return Self::none();
        }
        match str::from_utf8(&text).ok().and_then(read) {
            Some((current, next)) => Self { text, legible: true, current, next },
            None => Self { text, legible: false, ..Self::none() },
        }
    }

    /// The pointer to one bitmap alone.
    pub(super) fn to(current: &Generation) -> String {
        format!("{FORM}|{current}|")
    }

    /// This pointer with `next` to come.
    pub(super) fn before(&self, next: &Generation) -> String {
        let current = self.current.as_ref().map(Generation::to_string).unwrap_or_default();
        format!("{FORM}|{current}|{next}")
    }
}

fn read(text: &str) -> Option<(Option<Generation>, Option<Generation>)> {
    let mut parts = text.split('|');
    let (form, current, next) = (parts.next()?, parts.next()?, parts.next()?);
    let bitmap = |part: &str| match part {
        "" => Some(None),
        part => Generation::read(part).map(Some),
    };
    let known = form == FORM && parts.next().is_none();
    known.then_some((bitmap(current)?, bitmap(next)?))
}

impl Generation {
    /// One that is begun, under a server that is not known yet.
    pub(super) fn begun(token: Token, shape: Shape) -> Self {
        Self { token, shape, reign: String::new() }
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut word = || words.next();
        let (token, bits) = (word()?.parse().ok()?, word()?.parse().ok()?);
        let (hashes, reign) = (word()?.parse().ok()?, word()?.to_owned());
        let whole = word().is_none() && bits > 0;
        whole.then_some(Self { token, shape: Shape { bits, hashes }, reign })
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { bits, hashes } = self.shape;
        write!(f, "{} {bits} {hashes} {}", self.token, self.reign)
    }
}

/// The number of the bitmap of `token`, which is part of its key: no other has it.
pub(super) fn number(token: Token) -> u64 {
    u64::from_str_radix(&token.to_string()[..16], 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "00112233445566778899aabbccddeeff 64 3 c0ffee";
    const OTHER: &str = "ff112233445566778899aabbccddeeff 128 7 ";

    #[test]
    fn a_pointer_is_read_as_it_was_written() {
        let text = format!("1|{ONE}|{OTHER}");
        let pointer = Pointer::of(text.clone().into());
        let (current, next) = (pointer.current.unwrap(), pointer.next.unwrap());
        assert_eq!(current.shape, Shape { bits: 64, hashes: 3 });
        assert_eq!((current.reign.as_str(), next.reign.as_str()), ("c0ffee", ""));
        assert_eq!(next, Generation::begun(next.token, Shape { bits: 128, hashes: 7 }));
        let alone = Pointer::of(Pointer::to(&current).into());
        assert_eq!((alone.before(&next), alone.next), (text, None));
        assert_eq!(Pointer::none().before(&next), format!("1||{OTHER}"));
    }

    #[test]
    fn what_is_no_pointer_is_not_legible() {
        let none = ["1", "1|", "1|||", "2||", "1|7|", " ", "abc", "1|a b c d|", "||"].map(str::to_owned);
        let odd = [ONE.replace("64", "0"), ONE.replace("c0ffee", "c0 ffee"), ONE.replace('3', "-3")];
        for text in none.into_iter().chain(odd.map(|odd| format!("1||{odd}"))) {
            let pointer = Pointer::of(text.clone().into());
            assert_eq!((pointer.legible, pointer.current, pointer.next), (false, None, None), "{text}");
        }
        assert!(!Pointer::of(Bytes::from_static(&[0xFF])).legible);
        assert!(Pointer::of(Bytes::new()).legible);
    }

    #[test]
    fn the_number_is_half_of_the_token() {
        assert_eq!(number(ONE[..32].parse().unwrap()), 0x0011_2233_4455_6677);
    }
}
