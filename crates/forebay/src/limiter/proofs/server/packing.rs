//! `struct.pack` and `struct.unpack` as Redis has them, for unsigned big-endian integers and strings of a fixed length.
//!
//! Unless told to be lenient it is stricter than Redis in one thing: a value that does not fit its field is an error,
//! not cut off.

use std::{cell::RefCell, fmt::Display, rc::Rc};

use mlua::{Error, Lua, LuaString, MultiValue, Result, Table, Value};

use super::{
    reply::{exact, whole},
    world::World,
};

pub(super) fn library(lua: &Lua, world: Rc<RefCell<World>>) -> Result<Table> {
    let library = lua.create_table()?;
    library.set(
        "pack",
        lua.create_function(move |lua, args: MultiValue| pack(lua, args, world.borrow().lenient))?,
    )?;
    library.set("unpack", lua.create_function(|lua, args: MultiValue| unpack(lua, args))?)?;
    Ok(library)
}

fn pack(lua: &Lua, mut args: MultiValue, lenient: bool) -> Result<LuaString> {
    let mut bytes = Vec::new();
    for field in fields(&text(lua, args.pop_front())?)? {
        match field {
            Field::Integer(size) => {
                let number = number(lua, args.pop_front())?;
                bytes.extend(if lenient { cut_off(number, size) } else { big_endian(number, size)? });
            }
            Field::Characters(size) => {
                let text = text(lua, args.pop_front())?;
                if text.len() != size {
                    return Err(bad(format!("packs {} characters in {size}", text.len())));
                }
                bytes.extend(text);
            }
        }
    }
    lua.create_string(bytes)
}

/// What Redis makes of a number that does not fit.
#[expect(clippy::cast_possible_truncation, reason = "as Redis does")]
fn cut_off(number: f64, size: usize) -> Vec<u8> {
    (number as i64).to_be_bytes()[8 - size..].to_vec()
}

fn big_endian(number: f64, size: usize) -> Result<Vec<u8>> {
    let number = whole(number)?;
    let wide = u64::try_from(number).map_err(|_| bad(format!("packs {number}, which is negative")))?;
    let wide = wide.to_be_bytes();
    let (cut, kept) = wide.split_at(8 - size);
    if cut.iter().any(|byte| *byte != 0) {
        return Err(bad(format!("packs {number} in {size} bytes")));
    }
    Ok(kept.to_vec())
}

fn unpack(lua: &Lua, mut args: MultiValue) -> Result<MultiValue> {
    let fields = fields(&text(lua, args.pop_front())?)?;
    let bytes = text(lua, args.pop_front())?;
    let start = args.pop_front().map_or(Ok(1.0), |start| number(lua, Some(start)))?;
    let offset = || bad("unpacks from before the first byte");
    let mut at = usize::try_from(whole(start)? - 1).map_err(|_| offset())?;
    let mut values = MultiValue::new();
    for field in fields {
        let (Field::Integer(size) | Field::Characters(size)) = field;
        let part = bytes.get(at..at + size).ok_or_else(|| bad("unpacks past the end"))?;
        values.push_back(match field {
            Field::Integer(_) => Value::Number(read(part)),
            Field::Characters(_) => Value::String(lua.create_string(part)?),
        });
        at += size;
    }
    values.push_back(Value::Number(exact(i64::try_from(at + 1).expect("a short string"))));
    Ok(values)
}

/// Redis rounds what is above 2^53, and so does this.
#[expect(clippy::cast_precision_loss, reason = "as Redis does")]
fn read(field: &[u8]) -> f64 {
    field.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)) as f64
}

/// How many bytes of what.
#[derive(Clone, Copy)]
enum Field {
    Integer(usize),
    Characters(usize),
}

fn fields(format: &[u8]) -> Result<Vec<Field>> {
    let unknown = || bad(format!("uses the format {:?}", String::from_utf8_lossy(format)));
    let mut fields = Vec::new();
    let mut rest = format.strip_prefix(b">").ok_or_else(unknown)?;
    while let Some((kind, tail)) = rest.split_first() {
        let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (size, tail) = tail.split_at(digits);
        let size = std::str::from_utf8(size).ok().and_then(|size| size.parse().ok());
        fields.push(match (kind, size) {
            (b'B', None) => Field::Integer(1),
            (b'H', None) => Field::Integer(2),
            (b'I', Some(size @ 1..=8)) => Field::Integer(size),
            (b'c', Some(size @ 1..)) => Field::Characters(size),
            _ => return Err(unknown()),
        });
        rest = tail;
    }
    Ok(fields)
}

fn text(lua: &Lua, value: Option<Value>) -> Result<Vec<u8>> {
    let value = value.ok_or_else(|| bad("leaves out an argument of struct"))?;
    let text = lua.coerce_string(value)?.ok_or_else(|| bad("gives struct something other than a string"))?;
    Ok(text.as_bytes().to_vec())
}

fn number(lua: &Lua, value: Option<Value>) -> Result<f64> {
    let value = value.ok_or_else(|| bad("leaves out an argument of struct"))?;
    lua.coerce_number(value)?.ok_or_else(|| bad("gives struct something other than a number"))
}

fn bad(what: impl Display) -> Error {
    Error::runtime(format!("a script {what}"))
}
