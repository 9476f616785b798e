//! What a server answers, read from the wire.

use std::{
    fmt::{self, Display, Formatter},
    io::{self, BufRead, ErrorKind},
};

/// One answer in the words of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// No value.
    Nil,
    /// A number.
    Int(i64),
    /// A string of any bytes.
    Bytes(Vec<u8>),
    /// Several answers in one.
    Array(Vec<Self>),
    /// A refusal, its code first.
    Error(String),
    /// A short word, such as `OK`.
    Status(String),
}

impl Reply {
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let line = line(stream)?;
        let (kind, rest) = line.split_at_checked(1).ok_or(ErrorKind::InvalidData)?;
        match kind {
            "+" => Ok(Self::Status(rest.to_owned())),
            "-" => Ok(Self::Error(rest.to_owned())),
            ":" => number(rest).map(Self::Int),
            "$" => length(rest)?.map_or(Ok(Self::Nil), |length| bytes(stream, length).map(Self::Bytes)),
            "*" => length(rest)?.map_or(Ok(Self::Nil), |length| array(stream, length).map(Self::Array)),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }

    /// The same answer.
    ///
    /// # Panics
    ///
    /// If it is an error.
    pub(crate) fn granted(self) -> Self {
        assert!(!matches!(self, Self::Error(_)), "{self}");
        self
    }
}

/// As text for people: an array has one element on each line, an error begins with `-`.
impl Display for Reply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("(nil)"),
            Self::Int(number) => number.fmt(f),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).fmt(f),
            Self::Array(replies) => {
                f.write_str(&replies.iter().map(Self::to_string).collect::<Vec<_>>().join("\n"))
            }
            Self::Error(text) => write!(f, "-{text}"),
            Self::Status(word) => word.fmt(f),
        }
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    line.strip_suffix("\r\n").map(str::to_owned).ok_or_else(|| ErrorKind::UnexpectedEof.into())
}

fn number(text: &str) -> io::Result<i64> {
    text.parse().map_err(|_| ErrorKind::InvalidData.into())
}

/// A length below zero stands for no value.
fn length(text: &str) -> io::Result<Option<usize>> {
    number(text).map(|length| length.try_into().ok())
}

fn bytes(stream: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length + b"\r\n".len()];
    stream.read_exact(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

fn array(stream: &mut impl BufRead, length: usize) -> io::Result<Vec<Reply>> {
    (0..length).map(|_| Reply::read(stream)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_answer_of_every_kind() {
        let wire = b"*6\r\n$-1\r\n:-7\r\n$4\r\n\r\n\xff!\r\n*1\r\n+OK\r\n-ERR no\r\n*-1\r\n";
        let bytes = Reply::Bytes(b"\r\n\xff!".into());
        let inner = Reply::Array(vec![Reply::Status("OK".into())]);
        let all = vec![Reply::Nil, Reply::Int(-7), bytes, inner, Reply::Error("ERR no".into()), Reply::Nil];
        assert_eq!(Reply::read(&mut &wire[..]).unwrap(), Reply::Array(all));
    }

    #[test]
    fn half_an_answer_is_an_error() {
        for wire in ["", "+O", "$4\r\nab", "*2\r\n:1\r\n"] {
            assert_eq!(Reply::read(&mut wire.as_bytes()).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn an_array_has_one_element_on_each_line() {
        let reply = Reply::Array(vec![Reply::Int(1), Reply::Nil, Reply::Error("ERR no".into())]);
        assert_eq!(reply.to_string(), "1\n(nil)\n-ERR no");
    }
}
