//! The text of one message on the channel of invalidations.
//!
//! Words with a space between: version, verb, publisher, and what the verb needs. Words after those are for
//! later versions.

use std::{fmt, str};

const VERSION: &str = "f1";
const NOTHING: &str = "-";

/// What one publisher tells all the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// The value of an id is not what it was, or those of many ids are not.
    Change { publisher: u64, number: u64, kind: Kind, space: &'a str, id: &'a str, raised: Option<u64> },
    /// The publisher lives, and has counted its changes. By the number it knows this word again; older versions give none,
    /// which is 0.
    Beat { publisher: u64, tally: Tally, number: u64 },
    /// The publisher ends, and this is its last count.
    Bye { publisher: u64, tally: Tally },
}

/// How the value changed, or what else did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It was invalidated or put.
    Gone,
    /// It expired, and may still be handed out as stale.
    Aged,
    /// Not a value: a subject of a policy got quota back.
    Freed,
    /// Not one value: the number of a tag was raised, to that in the last word.
    Tag,
    /// Not one value: the number of a whole space was raised. The id says nothing.
    Clear,
}

impl Kind {
    /// Whether its messages end with a number, which the script that publishes them appends.
    fn raises(self) -> bool {
        matches!(self, Self::Tag | Self::Clear)
    }
}

/// Which changes of a publisher were published by the time of its heartbeat: all up to `through` but the
/// listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) through: u64,
    /// Not answered yet: a later tally vouches for them or skips them.
    pub(crate) open: Vec<u64>,
    /// Given up: nobody needs to wait for them.
    pub(crate) skipped: Vec<u64>,
}

impl<'a> Message<'a> {
    /// Reads a message; `None` for whatever is not one of this version.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut words = str::from_utf8(bytes).ok()?.split(' ');
        let words = &mut words;
        if words.next()? != VERSION {
            return None;
        }
        let verb = words.next()?;
        let publisher = hex(words.next()?)?;
        Some(match verb {
            "gone" => change(publisher, Kind::Gone, words)?,
            "aged" => change(publisher, Kind::Aged, words)?,
            "freed" => change(publisher, Kind::Freed, words)?,
            "tag" => change(publisher, Kind::Tag, words)?,
            "clear" => change(publisher, Kind::Clear, words)?,
            "beat" => {
                let tally = tally(words)?;
                Self::Beat { publisher, tally, number: words.next().and_then(decimal).unwrap_or(0) }
            }
            "bye" => Self::Bye { publisher, tally: tally(words)? },
            _ => return None,
        })
    }
}

fn change<'a>(publisher: u64, kind: Kind, words: &mut str::Split<'a, char>) -> Option<Message<'a>> {
    let number = decimal(words.next()?).filter(|number| *number > 0)?;
    let mut name = || words.next().filter(|word| !word.is_empty());
    let (space, id) = (name()?, name()?);
    let raised = if kind.raises() { Some(raised(words.next()?)?) } else { None };
    Some(Message::Change { publisher, number, kind, space, id, raised })
}

fn tally(words: &mut str::Split<'_, char>) -> Option<Tally> {
    Some(Tally {
        through: decimal(words.next()?)?,
        open: list(words.next()?)?,
        skipped: list(words.next()?)?,
    })
}

fn list(word: &str) -> Option<Vec<u64>> {
    if word == NOTHING { Some(Vec::new()) } else { word.split(',').map(decimal).collect() }
}

fn decimal(word: &str) -> Option<u64> {
    // `parse` alone would let a plus sign pass.
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// A number that scripts hold exactly.
fn raised(word: &str) -> Option<u64> {
    decimal(word).filter(|number| *number <= 1 << 53)
}

fn hex(word: &str) -> Option<u64> {
    let digits = word.len() == 16 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    digits.then(|| u64::from_str_radix(word, 16).ok())?
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change { publisher, number, kind, space, id, raised } => {
                write!(f, "{VERSION} {kind} {publisher:016x} {number} {space} {id}")?;
                raised.map_or(Ok(()), |raised| write!(f, " {raised}"))
            }
            Self::Beat { publisher, tally, number } => {
                write!(f, "{VERSION} beat {publisher:016x} {tally} {number}")
            }
            Self::Bye { publisher, tally } => write!(f, "{VERSION} bye {publisher:016x} {tally}"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "gone",
            Self::Aged => "aged",
            Self::Freed => "freed",
            Self::Tag => "tag",
            Self::Clear => "clear",
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.through)?;
        write_list(f, &self.open)?;
        f.write_str(" ")?;
        write_list(f, &self.skipped)
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, numbers: &[u64]) -> fmt::Result {
    let Some((first, rest)) = numbers.split_first() else { return f.write_str(NOTHING) };
    write!(f, "{first}")?;
    rest.iter().try_for_each(|number| write!(f, ",{number}"))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn tallies() -> impl Strategy<Value = Tally> {
        let lists = (vec(any::<u64>(), 0..5), vec(any::<u64>(), 0..5));
        (any::<u64>(), lists).prop_map(|(through, (open, skipped))| Tally { through, open, skipped })
    }

    fn check(message: &Message<'_>) {
        let text = message.to_string();
        assert_eq!(Message::parse(text.as_bytes()).as_ref(), Some(message), "{text}");
        assert_eq!(Message::parse(format!("{text} more").as_bytes()).as_ref(), Some(message), "{text}");
    }

    #[test]
    fn is_written_like_this() {
        let tally = Tally { through: 12, open: vec![7, 9], skipped: vec![] };
        let beat = |number| Message::Beat { publisher: 0xa1, tally: tally.clone(), number };
        assert_eq!(beat(8).to_string(), "f1 beat 00000000000000a1 12 7,9 - 8");
        // As older versions write it.
        assert_eq!(Message::parse(b"f1 beat 00000000000000a1 12 7,9 -"), Some(beat(0)));
        let change = |kind, id, raised| {
            Message::Change { publisher: 1, number: 3, kind, space: "shop:item", id, raised }.to_string()
        };
        assert_eq!(change(Kind::Gone, "a%20b", None), "f1 gone 0000000000000001 3 shop:item a%20b");
        assert_eq!(change(Kind::Tag, "red", Some(7)), "f1 tag 0000000000000001 3 shop:item red 7");
        assert_eq!(change(Kind::Clear, "-", Some(7)), "f1 clear 0000000000000001 3 shop:item - 7");
    }

    #[test]
    fn whatever_else_comes_is_none() {
        for text in [
            "",
            "f1",
            "f2 beat 0000000000000001 1 - -",
            "f1 sing 0000000000000001 1 - -",
            "f1 beat 1 1 - -",
            "f1 beat +000000000000001 1 - -",
            "f1 gone 0000000000000001 0 s i",
            "f1 gone 0000000000000001 +1 s i",
            "f1 gone 0000000000000001 18446744073709551616 s i",
            "f1 gone 0000000000000001 1 s ",
            "f1 gone 0000000000000001 1 s",
            "f1 tag 0000000000000001 1 s i",
            "f1 tag 0000000000000001 1 s i x",
            "f1 clear 0000000000000001 1 s - 9007199254740993",
            "f1 beat 0000000000000001 1 -",
            "f1 beat 0000000000000001 1 2, -",
            "f1 bye 0000000000000001",
        ] {
            assert_eq!(Message::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Message::parse(b"f1 gone 0000000000000001 1 s \xff"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            publisher: u64, number in 1_u64..,
            kind in prop_oneof![
                Just(Kind::Gone), Just(Kind::Aged), Just(Kind::Freed), Just(Kind::Tag), Just(Kind::Clear)
            ],
            space in "[a-z:]{1,9}", id in "[^\\s]{1,9}", raised in 0_u64..1 << 53, tally in tallies(),
        ) {
            let raised = kind.raises().then_some(raised);
            check(&Message::Change { publisher, number, kind, space: &space, id: &id, raised });
            check(&Message::Beat { publisher, tally: tally.clone(), number });
            check(&Message::Bye { publisher, tally });
        }

        #[test]
        fn no_bytes_panic(
            bytes: Vec<u8>, verb in "gone|aged|freed|tag|clear|beat|bye", tail in "[0-9a-f,+ -]{0,40}",
        ) {
            Message::parse(&bytes);
            Message::parse(format!("f1 {verb} 0000000000000001 {tail}").as_bytes());
        }
    }
}
