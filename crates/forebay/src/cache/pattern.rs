//! A pattern of ids, in the manner of Redis' `MATCH`.

use crate::{
    error::{Error, ErrorKind},
    key::decode,
};

/// No id that can be read is longer than 200 bytes.
const LONGEST: usize = 1_000;

/// What an id looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(Box<[Piece]>);

/// What one piece of a pattern stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Any number of characters.
    Many,
    /// One character, whatever it is.
    One,
    This(char),
    /// One that lies, or does not lie, in one of these ranges, ends included.
    Of {
        within: bool,
        ranges: Box<[(char, char)]>,
    },
}

impl Piece {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Many => false,
            Self::One => true,
            Self::This(this) => *this == c,
            Self::Of { within, ranges } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) == *within
            }
        }
    }
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        let refuse = |why: &str| {
            let shown: String = text.chars().take(64).collect();
            Error::new(ErrorKind::Config, format!("the pattern {shown:?} {why}"))
        };
        match text.len() {
            0 => return Err(refuse("is empty; `*` is every id")),
            1..=LONGEST => {}
            _ => return Err(refuse("is longer than 1,000 bytes, and no id that can be matched is")),
        }
        let (mut pieces, mut rest) = (Vec::new(), text.chars());
        while let Some(c) = rest.next() {
            let piece = match c {
                '*' => Piece::Many,
                '?' => Piece::One,
                '[' => set(&mut rest).map_err(&refuse)?,
                '\\' => Piece::This(rest.next().ok_or_else(|| refuse(r"ends with `\`; write `\\` for one"))?),
                c => Piece::This(c),
            };
            if piece != Piece::Many || pieces.last() != Some(&Piece::Many) {
                pieces.push(piece);
            }
        }
        Ok(Self(pieces.into()))
    }

    /// What every id begins with that it takes.
    pub(crate) fn prefix(&self) -> String {
        let this = |piece: &Piece| if let Piece::This(c) = piece { Some(*c) } else { None };
        self.0.iter().map_while(this).collect()
    }

    /// Whether it takes the id that has this encoded form. It takes no hash.
    pub(crate) fn takes(&self, encoded: &str) -> bool {
        decode(encoded).is_some_and(|id| self.takes_id(&id))
    }

    fn takes_id(&self, id: &str) -> bool {
        let (mut pieces, mut rest) = (&*self.0, id.chars());
        // What stands behind the last `*`, and what that has left to it: nothing before it need be tried again.
        let mut behind_many = None;
        loop {
            match (pieces.split_first(), rest.clone().next()) {
                (Some((Piece::Many, behind)), _) => {
                    pieces = behind;
                    behind_many = Some((behind, rest.clone()));
                }
                (Some((piece, behind)), Some(c)) if piece.takes(c) => {
                    pieces = behind;
                    rest.next();
                }
                (None, None) => return true,
                _ => {
                    let Some((behind, left)) = &mut behind_many else { return false };
                    if left.next().is_none() {
                        return false;
                    }
                    (pieces, rest) = (*behind, left.clone());
                }
            }
        }
    }
}

/// Reads what follows a `[`.
fn set(rest: &mut std::str::Chars<'_>) -> Result<Piece, &'static str> {
    const OPEN: &str = r"has a `[` without its `]`; write `\[` for the character";
    let within = !rest.as_str().starts_with('^');
    if !within {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        let first = match rest.next().ok_or(OPEN)? {
            ']' => break,
            '\\' => rest.next().ok_or(OPEN)?,
            c => c,
        };
        let is_range = rest.as_str().starts_with('-') && !rest.as_str().starts_with("-]");
        let last = if is_range { rest.nth(1).ok_or(OPEN)? } else { first };
        let last = if is_range && last == '\\' { rest.next().ok_or(OPEN)? } else { last };
        ranges.push((first.min(last), first.max(last)));
    }
    match ranges.is_empty() {
        true => Err("has a `[]`, which is no character; name some, as in `[ab]` or `[0-9]`"),
        false => Ok(Piece::Of { within, ranges: ranges.into() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn takes(pattern: &str, id: &str) -> bool {
        Pattern::new(pattern).unwrap().takes_id(id)
    }

    #[test]
    fn each_piece_stands_for_what_it_does_in_redis() {
        for (pattern, ids, others) in [
            ("p-001", &["p-001"][..], &["p-0010", "xp-001", ""][..]),
            ("*", &["", "a", "ü {}"], &[]),
            ("a*", &["a", "ab"], &["", "ba"]),
            ("*a", &["a", "ba", "aa"], &["", "ab"]),
            ("a*b*c", &["abc", "aXbYc", "abcbc"], &["acb", "ab"]),
            ("a?c", &["abc", "aüc"], &["ac", "abbc"]),
            ("[ab]", &["a", "b"], &["c", "ab", ""]),
            ("[^ab]", &["c", "ü"], &["a", ""]),
            ("[a-c0]x", &["bx", "0x"], &["dx", "-x"]),
            ("[c-a]", &["b"], &["d"]),
            ("[a-]", &["a", "-"], &["b"]),
            (r"[\]^]", &["]", "^"], &[r"\"]),
            (r"[\a-\c]", &["b"], &["-"]),
            (r"\*\[\\", &[r"*[\"], &["x"]),
            ("]", &["]"], &["["]),
            ("user:{7}:*", &["user:{7}:", "user:{7}:a b"], &["user:7:"]),
        ] {
            ids.iter().for_each(|id| assert!(takes(pattern, id), "{pattern} {id}"));
            others.iter().for_each(|id| assert!(!takes(pattern, id), "{pattern} {id}"));
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_the_remedy() {
        for (text, remedy) in
            [("", "`*`"), ("a[b", r"`\[`"), ("[]", "`[ab]`"), (r"a\", r"`\\`"), ("[a-", r"`\[`")]
        {
            let error = Pattern::new(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            let told = error.to_string();
            assert!(told.contains(remedy) && told.contains(&format!("{text:?}")), "{told}");
        }
        assert!(Pattern::new(&"x".repeat(1_001)).is_err());
        assert!(Pattern::new(&"x".repeat(1_000)).is_ok());
    }

    #[test]
    fn what_stands_before_the_first_choice_is_the_prefix() {
        for (text, prefix) in [("a:b*", "a:b"), ("*", ""), (r"a\*?", "a*"), ("ab[c]", "ab"), ("abc", "abc")] {
            assert_eq!(Pattern::new(text).unwrap().prefix(), prefix);
        }
    }

    #[test]
    fn the_most_tangled_pattern_is_soon_answered() {
        let pattern = Pattern::new(&"*a".repeat(500)).unwrap();
        assert!(!pattern.takes_id(&"a".repeat(200)));
        assert!(!Pattern::new(&"*a?".repeat(60)).unwrap().takes_id(&"a".repeat(100)));
    }

    /// As simple as it can be said, if not as fast.
    fn plainly(pieces: &[Piece], id: &[char]) -> bool {
        match (pieces.split_first(), id.split_first()) {
            (None, None) => true,
            (Some((Piece::Many, behind)), _) => {
                plainly(behind, id) || id.split_first().is_some_and(|(_, rest)| plainly(pieces, rest))
            }
            (Some((piece, behind)), Some((c, rest))) => piece.takes(*c) && plainly(behind, rest),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn trying_less_again_misses_nothing(pattern in "[ab*?]{1,8}", id in "[ab]{0,10}") {
            let read = Pattern::new(&pattern).unwrap();
            let chars: Vec<char> = id.chars().collect();
            prop_assert_eq!(read.takes_id(&id), plainly(&read.0, &chars));
        }
    }
}
