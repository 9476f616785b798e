//! What Redis answers, without the types of the client.

use bytes::Bytes;
use redis::{RedisError, ServerErrorKind, Value};

/// An answer of Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Nothing,
    Number(i64),
    Bytes(Bytes),
    List(Vec<Reply>),
    /// An error about the command alone, as of a key of another type; the code only, or [`UNKNOWN`].
    Error(String),
}

impl Reply {
    /// The parts of a list; nothing of anything else.
    pub(crate) fn into_list(self) -> Vec<Self> {
        match self {
            Self::List(parts) => parts,
            _ => Vec::new(),
        }
    }

    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn into_bytes(self) -> Option<Bytes> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Error(code) => Some(code),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Bytes(bytes) => str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

impl From<Value> for Reply {
    fn from(value: Value) -> Self {
        match value {
            Value::Int(number) => Self::Number(number),
            Value::BulkString(bytes) => Self::Bytes(bytes.into()),
            Value::SimpleString(text) | Value::VerbatimString { text, .. } => Self::Bytes(text.into()),
            Value::Okay => Self::Bytes(Bytes::from_static(b"OK")),
            Value::Array(parts) | Value::Set(parts) => {
                Self::List(parts.into_iter().map(Self::from).collect())
            }
            Value::Map(pairs) => {
                Self::List(pairs.into_iter().flat_map(|(key, value)| [key.into(), value.into()]).collect())
            }
            Value::Boolean(yes) => Self::Number(yes.into()),
            Value::ServerError(error) => Self::Error(code(&error.into()).to_owned()),
            _ => Self::Nothing,
        }
    }
}

/// In the place of a code, which says nothing here: the server has no such command, or has it by another name.
pub(crate) const UNKNOWN: &str = "ERR unknown command";

/// The code of an error; an empty one where no server has said it.
pub(super) fn code(error: &RedisError) -> &str {
    let detail = error.detail().unwrap_or_default().to_ascii_lowercase();
    let is_unknown = ["unknown command", "unknown redis command"].iter().any(|words| detail.contains(words));
    match error.code() {
        Some("ERR") if is_unknown => UNKNOWN,
        code => code.unwrap_or_default(),
    }
}

/// What an error of Redis says about whom to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There was no connection to send on.
    NotSent,
    /// The connection is gone, or silent.
    Lost,
    /// The server does not know the script.
    NoScript,
    /// Another node has the slot: for good, or for this once.
    Moved(String),
    Ask(String),
    /// The node cannot serve at present, whatever it is asked.
    Node(&'static str),
    /// The command was refused: out of memory, not allowed, not understood.
    Refused(String),
}

impl Trouble {
    pub(super) fn of(error: &RedisError) -> Self {
        let code = code(error);
        let detail = error.detail().unwrap_or_default();
        // An error inside a script of an older server keeps its code in the detail only.
        let says = |what: &str| code == what || detail.contains(&format!("-{what} "));
        let node = error.redirect_node().map(|(node, _)| node.to_owned());
        match (error.kind(), node) {
            (redis::ErrorKind::Server(ServerErrorKind::Moved), Some(node)) => Self::Moved(node),
            (redis::ErrorKind::Server(ServerErrorKind::Ask), Some(node)) => Self::Ask(node),
            (redis::ErrorKind::Server(ServerErrorKind::NoScript), _) => Self::NoScript,
            _ if says("READONLY") => Self::Node("it is a replica, which takes no writes"),
            _ if says("LOADING") => Self::Node("it is loading its data"),
            _ if says("MASTERDOWN") => Self::Node("its primary is down"),
            _ if says("CLUSTERDOWN") => Self::Node("its cluster is down"),
            _ if error.is_io_error() || error.is_connection_dropped() => Self::Lost,
            _ => Self::Refused(if code.is_empty() { error.category() } else { code }.to_owned()),
        }
    }
}
