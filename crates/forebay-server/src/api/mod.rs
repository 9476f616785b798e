//! The calls, one file per resource.

mod answer;
mod asked;
pub(crate) mod cache;
pub(crate) mod decision;
pub(crate) mod figures;
pub(crate) mod health;
pub(crate) mod lease;
pub(crate) mod limits;
pub(crate) mod limits_batch;
mod readiness;
mod written;
