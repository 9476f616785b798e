//! A look at one id, which changes nothing.

use std::time::Duration;

use super::{RedisBackend, scripts::INSPECT};
use crate::{
    cache::backend::{Foreign, Held, Note, Seen, Stored, Unavailable},
    redis::Reply,
};

impl RedisBackend {
    pub(super) async fn inspect(&self, id: &str) -> Result<Seen, Unavailable> {
        let answer = self.run(&INSPECT, &self.pair(id), &[], self.road()).await?;
        let mut parts = answer.into_list().into_iter();
        let mut next = || parts.next().unwrap_or(Reply::Nothing);
        let (left, value) = (next(), next());
        let (lease_left, token, note, waited) = (next(), next(), next(), next());
        let left = span(left.number());
        Ok(Seen {
            foreign: foreign(&value, left),
            stored: value.into_bytes().zip(left).map(|(bytes, left)| Stored { bytes, left }),
            held: span(lease_left.number()).and_then(|left| Some((held(&token, &note, &waited)?, left))),
        })
    }
}

/// What has no end was not stored here, whatever its bytes say, and nor was what is no string.
fn foreign(value: &Reply, left: Option<Duration>) -> Option<Foreign> {
    let (reason, bytes) = match value {
        Reply::Number(_) => ("foreign_type", 0),
        Reply::Bytes(bytes) if left.is_none() => ("no_expiry", bytes.len()),
        _ => return None,
    };
    Some(Foreign { reason, bytes, left: left.unwrap_or_default() })
}

fn held(token: &Reply, note: &Reply, waited: &Reply) -> Option<Held> {
    match note.text() {
        Some("failed") => return Some(Held::Note(Note::Failed)),
        Some("unshared") => return Some(Held::Note(Note::Unshared)),
        _ => {}
    }
    Some(Held::Lease { token: token.text()?.parse().ok()?, waited: waited.text().is_some() })
}

fn span(left: Option<i64>) -> Option<Duration> {
    u64::try_from(left?).ok().map(Duration::from_millis)
}
