//! Calls on many things at once.

pub(crate) mod cache;
pub(crate) mod limits;
