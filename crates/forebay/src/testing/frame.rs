//! Where a frame of RESP2 or RESP3 ends; what is in it is nobody's business here.

use std::mem;

/// A frame that would be longer is taken for no frame.
const LIMIT: usize = 64 << 20;

/// Bytes that are no RESP, or more than [`LIMIT`] of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Finds the ends of frames in bytes that come bit by bit, and looks at each value once.
#[derive(Debug)]
pub(super) struct Splitter {
    /// How much of the first frame is known to be whole.
    at: usize,
    /// How many values the frame still lacks. One number will do for any depth of nesting.
    owed: usize,
}

impl Default for Splitter {
    fn default() -> Self {
        Self { at: 0, owed: 1 }
    }
}

impl Splitter {
    /// The length of the first frame of `bytes`, once it is whole; it has to be gone at the next call.
    ///
    /// Until then `bytes` may only grow.
    pub(super) fn split(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        while self.owed > 0 {
            let Some(value) = Value::read(&bytes[self.at..])? else {
                return if bytes.len() < LIMIT { Ok(None) } else { Err(Malformed) };
            };
            self.at += value.length;
            self.owed = self.owed - 1 + value.owes;
            if self.at > LIMIT || self.owed > LIMIT {
                return Err(Malformed);
            }
        }
        Ok(Some(mem::take(self).at))
    }
}

/// A scalar, or the head of an aggregate.
struct Value {
    length: usize,
    /// How many values have to follow it.
    owes: usize,
}

impl Value {
    fn read(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(&kind) = bytes.first() else { return Ok(None) };
        if !b"+-:,(#_$!=*~>%|".contains(&kind) {
            return Err(Malformed);
        }
        let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") else { return Ok(None) };
        let (line, length) = (&bytes[1..end], end + 2);
        let owes = match kind {
            b'$' | b'!' | b'=' => return Self::bulk(bytes, length, count(line)?),
            b'*' | b'~' | b'>' => count(line)?.unwrap_or(0),
            b'%' => count(line)?.unwrap_or(0) * 2,
            // An attribute is no value: the one it describes is still owed.
            b'|' => count(line)?.unwrap_or(0) * 2 + 1,
            _ => 0,
        };
        Ok(Some(Self { length, owes }))
    }

    fn bulk(bytes: &[u8], head: usize, size: Option<usize>) -> Result<Option<Self>, Malformed> {
        let Some(size) = size else { return Ok(Some(Self { length: head, owes: 0 })) };
        let length = head + size + 2;
        match bytes.get(length - 2..length) {
            None => Ok(None),
            Some(b"\r\n") => Ok(Some(Self { length, owes: 0 })),
            Some(_) => Err(Malformed),
        }
    }
}

/// The count in the head of a bulk or an aggregate; `None` for the null of RESP2.
fn count(line: &[u8]) -> Result<Option<usize>, Malformed> {
    if line == b"-1" {
        return Ok(None);
    }
    let count = str::from_utf8(line).ok().and_then(|text| text.parse().ok()).ok_or(Malformed)?;
    if count > LIMIT { Err(Malformed) } else { Ok(Some(count)) }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    /// Scalars without a length, or without bytes.
    const FIXED: [&str; 9] =
        ["+OK\r\n", "-ERR no\r\n", ":-7\r\n", ",1.5\r\n", "(99\r\n", "#t\r\n", "_\r\n", "$-1\r\n", "*-1\r\n"];

    fn scalar() -> impl Strategy<Value = Vec<u8>> {
        let bulk = (select(b"$!=".to_vec()), vec(any::<u8>(), 0..40)).prop_map(|(kind, bytes)| {
            [format!("{}{}\r\n", char::from(kind), bytes.len()).as_bytes(), &bytes, b"\r\n"].concat()
        });
        prop_oneof![bulk, select(&FIXED).prop_map(Into::into)]
    }

    fn aggregate(kind: u8, mut values: Vec<Vec<u8>>) -> Vec<u8> {
        let pairs = b"%|".contains(&kind);
        if pairs && values.len() % 2 == 1 {
            values.push(b"_\r\n".to_vec());
        }
        let count = if pairs { values.len() / 2 } else { values.len() };
        let described: &[u8] = if kind == b'|' { b":1\r\n" } else { b"" };
        [format!("{}{count}\r\n", char::from(kind)).as_bytes(), &values.concat(), described].concat()
    }

    fn frame() -> impl Strategy<Value = Vec<u8>> {
        scalar().prop_recursive(4, 32, 5, |inner| {
            (select(b"*~>%|".to_vec()), vec(inner, 0..5)).prop_map(|(kind, values)| aggregate(kind, values))
        })
    }

    /// Gives `bytes` to a splitter in pieces of the given lengths.
    fn split(bytes: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
        let (mut splitter, mut seen, mut frames) = (Splitter::default(), Vec::new(), Vec::new());
        let mut rest = bytes;
        for length in lengths.iter().cycle() {
            let (piece, behind) = rest.split_at((*length).min(rest.len()));
            seen.extend_from_slice(piece);
            while let Some(whole) = splitter.split(&seen).unwrap() {
                frames.push(seen.drain(..whole).collect());
            }
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        assert!(seen.is_empty(), "{seen:?} is left");
        frames
    }

    proptest! {
        #[test]
        fn finds_every_frame_wherever_the_pieces_end(
            frames in vec(frame(), 1..8),
            lengths in vec(1..30_usize, 1..8),
        ) {
            prop_assert_eq!(split(&frames.concat(), &lengths), frames);
        }

        #[test]
        fn bears_any_bytes(bytes in vec(select(b"$*%|+-1239\r\n".to_vec()), 0..60)) {
            let mut splitter = Splitter::default();
            for end in 0..bytes.len() {
                match splitter.split(&bytes[..end]) {
                    Ok(None) => {}
                    Ok(Some(length)) => { prop_assert!(length <= end); break; }
                    Err(Malformed) => break,
                }
            }
        }
    }

    #[test]
    fn takes_no_other_bytes_for_a_frame() {
        for text in ["PING\r\n", "$1\r\nabc\r\n", "$x\r\n", "*-2\r\n", "$?\r\n", "$99999999999\r\n"] {
            assert_eq!(Splitter::default().split(text.as_bytes()), Err(Malformed), "{text}");
        }
    }
}
