//! What a command or a script answers, and how it looks in Lua.

use mlua::{Error, Lua, Result, Value};

#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Reply {
    Integer(i64),
    Bulk(Vec<u8>),
    Status(&'static str),
    Many(Vec<Self>),
    Nil,
    Error(String),
}

impl Reply {
    pub(super) fn count(count: usize) -> Self {
        Self::Integer(i64::try_from(count).expect("a count is small"))
    }

    /// As a script sees it: nothing is `false`, a status and an error are tables.
    pub(super) fn into_lua(self, lua: &Lua) -> Result<Value> {
        Ok(match self {
            Self::Integer(number) => Value::Number(exact(number)),
            Self::Bulk(bytes) => Value::String(lua.create_string(bytes)?),
            Self::Status(text) => Value::Table(lua.create_table_from([("ok", text)])?),
            Self::Error(text) => Value::Table(lua.create_table_from([("err", text)])?),
            Self::Nil => Value::Boolean(false),
            Self::Many(replies) => {
                let values = replies.into_iter().map(|reply| reply.into_lua(lua));
                Value::Table(lua.create_sequence_from(values.collect::<Result<Vec<_>>>()?)?)
            }
        })
    }

    /// As a client sees what a script returned: numbers lose their fraction, arrays end at the first `nil`.
    pub(super) fn from_lua(value: Value) -> Result<Self> {
        Ok(match value {
            Value::Integer(number) => Self::Integer(number),
            Value::Number(number) => Self::Integer(whole(number)?),
            Value::String(text) => Self::Bulk(text.as_bytes().to_vec()),
            Value::Boolean(true) => Self::Integer(1),
            Value::Nil | Value::Boolean(false) => Self::Nil,
            Value::Table(table) => {
                if let Some(error) = table.get::<Option<String>>("err")? {
                    return Ok(Self::Error(error));
                }
                let replies = table.sequence_values::<Value>().map(|value| Self::from_lua(value?));
                Self::Many(replies.collect::<Result<_>>()?)
            }
            other => return Err(Error::runtime(format!("a script cannot return {}", other.type_name()))),
        })
    }
}

/// The largest integer up to which a double tells all integers apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The integer that a script means. No script of ours may deal in fractions or in numbers that have lost digits.
#[expect(clippy::cast_possible_truncation, reason = "it has just been seen to be exact")]
pub(super) fn whole(number: f64) -> Result<i64> {
    if number.fract() != 0.0 || number.abs() > EXACT {
        return Err(Error::runtime(format!("a script reckoned {number}, which is no exact integer")));
    }
    Ok(number as i64)
}

#[expect(clippy::cast_precision_loss, reason = "replies of ours are below 2^53")]
pub(super) fn exact(number: i64) -> f64 {
    number as f64
}
