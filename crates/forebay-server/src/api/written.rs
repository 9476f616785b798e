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
    /// The stale value, as the origin still has it.
    NotModified(Lives),
}

/// Where a client says it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Query,
    /// An item of the body of a batch.
    Item,
}

impl Place {
    fn refuse(self, why: &str) -> Problem {
        match self {
            Self::Query => Problem::new(Kind::InvalidQuery, why),
            Self::Item => Problem::new(Kind::InvalidBody, format!("in the body: {why}")),
        }
    }

    /// How tags are spelt there.
    fn tags(self) -> &'static str {
        match self {
            Self::Query => "`tag`",
            Self::Item => "`tags`",
        }
    }

    fn no_life(self, setting: &str, space: &Space) -> Problem {
        let name = space.cache.space();
        let here = match self {
            Self::Query => "in the query",
            Self::Item => "with the item",
        };
        let detail = format!(
            "give `ttl_ms` {here}, or set `{setting}` under [cache.spaces.\"{name}\"] in the server's file"
        );
        Problem::new(Kind::NoTimeToLive, detail)
    }
}

/// What a client says of what it writes.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) place: Place,
    pub(super) life: Option<Duration>,
    pub(super) stale_for: Option<Duration>,
    pub(super) absent: bool,
    pub(super) not_modified: bool,
    pub(super) tags: Vec<String>,
}

/// How long a value is fresh, unless that is for the library to say, and kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lives {
    fresh: Option<Duration>,
    stale: Option<Duration>,
}

impl Lives {
    pub(super) fn of(self, loaded: Loaded<Content>) -> Loaded<Content> {
        let loaded = self.fresh.into_iter().fold(loaded, Loaded::time_to_live);
        self.stale.into_iter().fold(loaded, Loaded::stale_for)
    }
}

impl Written {
    /// Reads query, headers and body of a put; what they leave out is as the space is configured.
    pub(super) async fn read(
        uri: &Uri,
        headers: &HeaderMap,
        body: Body,
        space: &Space,
    ) -> Result<Self, Problem> {
        let query = Query::read(uri, &["ttl_ms", "stale_ms", "absent", "tag"])?;
        Self::of(Given::read(&query, false)?, headers, body, space).await
    }

    /// As [`Written::read`], of a fill: the origin may have answered that nothing was modified.
    pub(super) async fn read_fill(
        uri: &Uri,
        headers: &HeaderMap,
        body: Body,
        space: &Space,
    ) -> Result<Self, Problem> {
        let query = Query::read(uri, &["ttl_ms", "stale_ms", "absent", "tag", "not_modified"])?;
        let not_modified = query.flag("not_modified")?;
        Self::of(Given::read(&query, not_modified)?, headers, body, space).await
    }

    async fn of(given: Given, headers: &HeaderMap, body: Body, space: &Space) -> Result<Self, Problem> {
        extract::unconditional(headers)?;
        match given.without_value(space)? {
            Some(written) => {
                nothing(body).await?;
                Ok(written)
            }
            None => {
                let lives = given.lives(space)?;
                let content = content(body, headers, space.cache.options().max_bytes).await?;
                Ok(Self::Value(lives.of(Loaded::new(content).tags(&given.tags))))
            }
        }
    }
}

impl Given {
    fn read(query: &Query, not_modified: bool) -> Result<Self, Problem> {
        let tags = query.tags().iter().map(ToString::to_string).collect();
        Ok(Self {
            place: Place::Query,
            life: query.life("ttl_ms")?,
            stale_for: query.millis("stale_ms")?,
            absent: query.flag("absent")?,
            not_modified,
            tags,
        })
    }

    /// What is written without a value, if it is that.
    pub(super) fn without_value(&self, space: &Space) -> Result<Option<Written>, Problem> {
        if self.absent && self.not_modified {
            return Err(self
                .place
                .refuse("`absent` and `not_modified` contradict each other; give one of them"));
        }
        if self.absent && self.stale_for.is_some() {
            return Err(self.place.refuse("`stale_ms` does not go with `absent`"));
        }
        if (self.absent || self.not_modified) && !self.tags.is_empty() {
            let tags = self.place.tags();
            return Err(self.place.refuse(&format!(
                "{tags} goes with a value; an absence has none, and what was not modified keeps its own"
            )));
        }
        if self.absent {
            let life =
                self.life.or(space.absent_for).ok_or_else(|| self.place.no_life("absent_for", space))?;
            return Ok(Some(Written::Absence(life)));
        }
        if self.tags.len() > MOST_TAGS {
            let (tags, given) = (self.place.tags(), self.tags.len());
            return Err(self.place.refuse(&format!("{tags} names {given}; a value has at most {MOST_TAGS}")));
        }
        if self.not_modified { self.lives(space).map(Written::NotModified).map(Some) } else { Ok(None) }
    }

    /// The lives of a value.
    pub(super) fn lives(&self, space: &Space) -> Result<Lives, Problem> {
        let fresh =
            self.life.or(space.time_to_live).ok_or_else(|| self.place.no_life("time_to_live", space))?;
        let is_adaptive = self.life.is_none() && space.is_adaptive;
        Ok(Lives { fresh: (!is_adaptive).then_some(fresh), stale: self.stale_for })
    }
}

async fn nothing(body: Body) -> Result<(), Problem> {
    match extract::content(body, 0).await {
        Ok(_) => Ok(()),
        Err(_) => Err(Problem::new(
            Kind::InvalidBody,
            "without a value to store, as with `absent=1` and `not_modified=1`, no body is taken",
        )),
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
