//! The calls, one file per resource.

mod answer;
mod asked;
pub(crate) mod cache;
pub(crate) mod health;
pub(crate) mod lease;
mod readiness;
mod written;
