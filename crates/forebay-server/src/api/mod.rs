//! The calls, one file per resource.

pub(crate) mod answer;
mod asked;
pub(crate) mod batch;
pub(crate) mod cache;
pub(crate) mod claims;
pub(crate) mod decision;
pub(crate) mod events;
pub(crate) mod figures;
mod given;
pub(crate) mod health;
pub(crate) mod idempotency;
pub(crate) mod inspect;
pub(crate) mod invalidate;
pub(crate) mod lease;
pub(crate) mod limits;
pub(crate) mod locks;
pub(crate) mod metrics;
pub(crate) mod monitor;
mod readiness;
pub(crate) mod unique;
pub(crate) mod visitors;
mod written;

pub(crate) use answer::content_type;
pub(crate) use events::{AGAIN, EVENT_STREAM, UNBUFFERED};
