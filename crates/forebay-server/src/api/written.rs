//! What a client writes: a value or its absence, with the lives that its query gives.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderMap, Uri},
};
use bytes::Bytes;
use forebay::cache::Loaded;

use crate::{
    content::Content,
    error::{Kind, Problem},
    extract::{self, Query},
    spaces::Space,
};

/// The most tags that a value has.
const MOST_TAGS: usize = 128;

/// What is to be stored.
#[derive(Debug)]
pub(super) enum Written {
    Value(Loaded<Content>),
    /// That there is nothing, for so long.
    Absence(Duration),
}

impl Written {
    /// Reads query, headers and body; what they leave out is as the space is configured.
    pub(super) async fn read(
        uri: &Uri,
        headers: &HeaderMap,
        body: Body,
        space: &Space,
    ) -> Result<Self, Problem> {
        let query = Query::read(uri, &["ttl_ms", "stale_ms", "absent", "tag"])?;
        extract::unconditional(headers)?;
        let life = query.life("ttl_ms")?;
        let stale_for = query.millis("stale_ms")?;
        if query.flag("absent")? {
            if stale_for.is_some() {
                return Err(Problem::new(Kind::InvalidQuery, "`stale_ms` does not go with `absent=1`"));
            }
            if !query.tags().is_empty() {
                return Err(Problem::new(Kind::InvalidQuery, "`tag` does not go with `absent=1`"));
            }
            let absent_for = life.or(space.absent_for).ok_or_else(|| no_life("absent_for", space))?;
            nothing(body).await?;
            return Ok(Self::Absence(absent_for));
        }
        if query.tags().len() > MOST_TAGS {
            let detail = format!("`tag` is given {} times; at most {MOST_TAGS}", query.tags().len());
            return Err(Problem::new(Kind::InvalidQuery, detail));
        }
        let time_to_live = life.or(space.time_to_live).ok_or_else(|| no_life("time_to_live", space))?;
        let content = content(body, headers, space.cache.options().max_bytes).await?;
        let loaded = match Loaded::new(content).tags(query.tags()) {
            adaptive if life.is_none() && space.is_adaptive => adaptive,
            loaded => loaded.time_to_live(time_to_live),
        };
        Ok(Self::Value(match stale_for {
            Some(life) => loaded.stale_for(life),
            None => loaded,
        }))
    }
}

fn no_life(setting: &str, space: &Space) -> Problem {
    let name = space.cache.space();
    let detail = format!(
        "give `ttl_ms` in the query, or set `{setting}` under [cache.spaces.\"{name}\"] in the server's file"
    );
    Problem::new(Kind::NoTimeToLive, detail)
}

async fn nothing(body: Body) -> Result<(), Problem> {
    match extract::content(body, 0).await {
        Ok(_) => Ok(()),
        Err(_) => Err(Problem::new(Kind::InvalidBody, "`absent=1` takes no body")),
    }
}

/// The body with its type, to be kept.
pub(super) async fn content(body: Body, headers: &HeaderMap, most: usize) -> Result<Content, Problem> {
    let content_type = extract::content_type(headers)?;
    extract::unencoded(headers)?;
    let bytes = extract::content(body, most).await?;
    // A copy: what was read is a slice of the connection's buffer, which the cache would keep and not count.
    Ok(Content { content_type, bytes: Bytes::copy_from_slice(&bytes) })
}
