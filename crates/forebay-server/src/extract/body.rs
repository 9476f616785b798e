//! Bodies, read up to a limit.

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Kind, Problem, shown};

/// The longest JSON that a call takes.
const JSON: usize = 64 * 1024;

/// The longest JSON that a call for many things at once takes.
const LIST: usize = 1024 * 1024;

/// The longest JSON that carries many values.
const VALUES: usize = 8 * 1024 * 1024;

/// The body as it is, of at most `most` bytes.
pub(crate) async fn content(body: Body, most: usize) -> Result<Bytes, Problem> {
    if body.size_hint().lower() > most as u64 {
        return Err(too_large(most));
    }
    match Limited::new(body, most).collect().await {
        Ok(read) => Ok(read.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(most)),
        Err(error) => Err(Problem::new(Kind::InvalidBody, format!("the body ended early: {error}"))),
    }
}

/// The body as a JSON object without unknown members. An empty body is an empty object.
pub(crate) async fn json<T: DeserializeOwned + Default>(body: Body) -> Result<T, Problem> {
    object(&content(body, JSON).await?)
}

/// As [`json`], for an object that tells of many things at once.
pub(crate) async fn many<T: DeserializeOwned + Default>(body: Body) -> Result<T, Problem> {
    object(&content(body, LIST).await?)
}

fn object<T: DeserializeOwned + Default>(bytes: &[u8]) -> Result<T, Problem> {
    let text = bytes.trim_ascii();
    match text.first() {
        None => Ok(T::default()),
        Some(b'{') => parse(text),
        // serde would take an array for an object whose members come in order.
        Some(_) => Err(Problem::new(Kind::InvalidBody, "the body must be a JSON object")),
    }
}

/// The body as a JSON array of at most `most` objects without unknown members, or what is wrong with each.
pub(crate) async fn list<T: DeserializeOwned>(
    body: Body,
    most: usize,
) -> Result<Vec<Result<T, Problem>>, Problem> {
    let bytes = content(body, LIST).await?;
    let text = bytes.trim_ascii();
    if text.first() != Some(&b'[') {
        return Err(Problem::new(Kind::InvalidBody, "the body must be a JSON array"));
    }
    let items: Vec<Value> = parse(text)?;
    if items.len() > most {
        let detail = format!("the body has {} items; at most {most} are taken here", items.len());
        return Err(Problem::new(Kind::InvalidBody, detail));
    }
    Ok(items.into_iter().enumerate().map(|(index, value)| item(index, value)).collect())
}

/// The body as a JSON object of one member, which names one of `calls` and has an array of 1 to `most` items.
pub(crate) async fn call(body: Body, most: usize, calls: &str) -> Result<(String, Vec<Value>), Problem> {
    let bytes = content(body, VALUES).await?;
    let members: Map<String, Value> = object(&bytes)?;
    let mut members = members.into_iter();
    let refuse = |why: String| Problem::new(Kind::InvalidBody, why);
    let (Some((name, items)), None) = (members.next(), members.next()) else {
        return Err(refuse(format!("the body must have one member, which is {calls}")));
    };
    if !calls.contains(&format!("`{name}`")) {
        return Err(no_call(&name, calls));
    }
    match items {
        Value::Array(items) if (1..=most).contains(&items.len()) => Ok((name, items)),
        Value::Array(items) => {
            Err(refuse(format!("in the body: `{name}` has {} items; give 1 to {most}", items.len())))
        }
        _ => Err(refuse(format!("in the body: `{name}` must be an array of objects"))),
    }
}

/// The refusal of a call that is not one of `calls`.
pub(crate) fn no_call(name: &str, calls: &str) -> Problem {
    Problem::new(Kind::InvalidBody, format!("in the body: `{}` is no call; there are {calls}", shown(name)))
}

/// One item of a body, or what is wrong with it.
pub(crate) fn item<T: DeserializeOwned>(index: usize, item: Value) -> Result<T, Problem> {
    let refuse = |why: String| Problem::new(Kind::InvalidBody, format!("in the body, `[{index}]{why}"));
    if !item.is_object() {
        return Err(refuse("` must be an object".to_owned()));
    }
    serde_path_to_error::deserialize(item).map_err(|error| {
        let member = error
            .path()
            .iter()
            .next()
            .map(|_| format!(".{}", shown(&error.path().to_string())))
            .unwrap_or_default();
        refuse(format!("{member}`: {}", error.inner()))
    })
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let member = error
            .path()
            .iter()
            .next()
            .map(|_| format!(", `{}`", shown(&error.path().to_string())))
            .unwrap_or_default();
        Problem::new(Kind::InvalidBody, format!("in the body{member}: {}", error.inner()))
    })?;
    json.end().map_err(|error| Problem::new(Kind::InvalidBody, format!("after the body's end: {error}")))?;
    Ok(value)
}

fn too_large(most: usize) -> Problem {
    Problem::new(Kind::TooLarge, format!("at most {most} bytes are taken here"))
}
