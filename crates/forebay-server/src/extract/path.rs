//! The path in its segments, read from the raw form so that an id may hold any character.

use axum::http::request::Parts;

use super::escapes::decode;
use crate::error::{Kind, Problem};

/// The decoded segments of a request's path.
#[derive(Debug, Clone)]
pub(crate) struct Segments(pub(super) Vec<String>);

impl Segments {
    /// Takes apart `path`, which is not decoded yet.
    pub(crate) fn read(path: &str) -> Result<Self, Problem> {
        let refuse = |why: &str| Problem::new(Kind::InvalidPath, format!("the path `{path}` {why}"));
        let relative = path.strip_prefix('/').unwrap_or(path);
        if relative.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let segment = |raw: &str| match raw {
            "" => Err(refuse("has an empty segment")),
            raw => decode(raw).map_err(refuse),
        };
        relative.split('/').map(segment).collect::<Result<_, _>>().map(Self)
    }

    /// The segment at `index` of a request whose route has it.
    pub(crate) fn find(parts: &Parts, index: usize) -> Result<&str, Problem> {
        let segment = parts.extensions.get().and_then(|Self(segments)| segments.get(index));
        let unnamed = || Problem::new(Kind::NotFound, "the path does not name what the call is about");
        segment.map(String::as_str).ok_or_else(unnamed)
    }
}
