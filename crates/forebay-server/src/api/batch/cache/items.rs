//! The items of batches, as bodies spell them.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use forebay::cache::{Loaded, Token};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    api::{
        asked::{Asked, AskedAgain},
        written::{self, Given, Place},
    },
    content::Content,
    error::{Kind, Problem},
    extract,
    spaces::Space,
};

/// What names an id.
pub(super) trait Entry {
    fn id(&self) -> &str;
}

macro_rules! entries {
    ($($item:ty),*) => { $(impl Entry for $item {
        fn id(&self) -> &str {
            &self.id
        }
    })* };
}

entries!(Named, Looked, Renewed, Held, Written);

/// An id alone.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BatchId)]
pub(super) struct Named {
    pub(super) id: String,
}

/// An id to be looked up.
#[derive(Debug, Deserialize)]
#[serde(from = "LookedFields")]
pub(super) struct Looked {
    pub(super) id: String,
    pub(super) asked: Asked,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BatchLookup)]
pub(super) struct LookedFields {
    id: String,
    wait_ms: Option<u64>,
    lease_ms: Option<u64>,
}

impl From<LookedFields> for Looked {
    fn from(LookedFields { id, wait_ms, lease_ms }: LookedFields) -> Self {
        Self { id, asked: Asked { wait_ms, lease_ms } }
    }
}

/// A lease that is to last longer.
#[derive(Debug, Deserialize)]
#[serde(from = "RenewedFields")]
pub(super) struct Renewed {
    pub(super) id: String,
    pub(super) lease: String,
    pub(super) asked: AskedAgain,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BatchRenewal)]
pub(super) struct RenewedFields {
    id: String,
    lease: String,
    lease_ms: Option<u64>,
}

impl From<RenewedFields> for Renewed {
    fn from(RenewedFields { id, lease, lease_ms }: RenewedFields) -> Self {
        Self { id, lease, asked: AskedAgain { lease_ms } }
    }
}

/// A lease that is to end.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BatchRelease)]
pub(super) struct Held {
    pub(super) id: String,
    pub(super) lease: String,
    #[serde(default)]
    pub(super) failed: bool,
}

/// What is to be stored, by the holder of a lease or by a put.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BatchValue)]
pub(super) struct Written {
    pub(super) id: String,
    lease: Option<String>,
    value: Option<String>,
    content_type: Option<String>,
    ttl_ms: Option<u64>,
    stale_ms: Option<u64>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    absent: bool,
    #[serde(default)]
    not_modified: bool,
}

impl Written {
    pub(super) fn without_lease(&self) -> Result<(), Problem> {
        match self.lease {
            Some(_) => Err(refuse("`lease` is not taken by `put`; `fill` stores under a lease")),
            None => Ok(()),
        }
    }

    pub(super) fn token(&self) -> Result<Token, Problem> {
        token(
            self.lease
                .as_deref()
                .ok_or_else(|| refuse("`lease` is missing; it carries the token of the lease"))?,
        )
    }

    /// What is to be stored, in the space's terms.
    pub(super) fn written(self, space: &Space) -> Result<written::Written, Problem> {
        let given = Given {
            place: Place::Item,
            life: self.ttl_ms.map(Duration::from_millis),
            stale_for: self.stale_ms.map(Duration::from_millis),
            absent: self.absent,
            not_modified: self.not_modified,
            tags: self.tags,
        };
        if (given.absent || given.not_modified) && self.value.is_some() {
            return Err(refuse("`value` goes with neither `absent` nor `not_modified`"));
        }
        if let Some(life) = given.life
            && life.is_zero()
        {
            return Err(refuse("`ttl_ms` must be at least 1"));
        }
        if given.tags.iter().any(String::is_empty) {
            return Err(refuse("a tag is empty; give each a text"));
        }
        if let Some(written) = given.without_value(space)? {
            return Ok(written);
        }
        match self.value {
            None => Err(refuse("`value` is missing; give its bytes in base64")),
            Some(text) => {
                let lives = given.lives(space)?;
                let content = content(&text, self.content_type, space.cache.options().max_bytes)?;
                Ok(written::Written::Value(lives.of(Loaded::new(content).tags(&given.tags))))
            }
        }
    }
}

fn content(text: &str, content_type: Option<String>, most: usize) -> Result<Content, Problem> {
    let decoded = STANDARD.decode(text);
    let bytes =
        decoded.map_err(|error| refuse(&format!("`value` is not base64 with its padding: {error}")))?;
    if bytes.len() > most {
        return Err(Problem::new(Kind::TooLarge, format!("at most {most} bytes are taken here")));
    }
    let content_type = content_type.map(extract::media_type).transpose()?;
    Ok(Content { content_type, bytes: Bytes::from(bytes) })
}

/// The token that an item carries.
pub(super) fn token(text: &str) -> Result<Token, Problem> {
    text.parse().map_err(|_| {
        refuse("`lease` holds no token, which has 32 hexadecimal digits in lower case; carry it as it was handed out")
    })
}

fn refuse(why: &str) -> Problem {
    Problem::new(Kind::InvalidBody, format!("in the body: {why}"))
}
