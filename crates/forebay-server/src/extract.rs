//! Requests taken apart; what cannot be read is refused here, as a [`Problem`](crate::error::Problem).

mod body;
mod escapes;
mod headers;
mod limited;
mod named;
mod path;
mod query;
mod target;
mod token;

pub(crate) use body::{call, content, item, json, list, many, no_call};
pub(crate) use headers::{content_type, media_type, unconditional, unencoded};
pub(crate) use limited::{AskedCounter, AskedPolicy, AskedSubject, AskedTopic, ReadCounter};
pub(crate) use named::Named;
pub(crate) use path::Segments;
pub(crate) use query::Query;
pub(crate) use target::{BatchSpace, KnownSpace, KnownTarget, Target};
pub(crate) use token::{FOREBAY_LEASE, HeldLease, HeldToken, without_token};
