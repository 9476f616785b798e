//! The layers, in front of real routers: who is asking, what is believed of it, how much they may, and what is done once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod anonymous;
mod callers;
mod composed;
mod idempotency;
mod limits;
mod refusals;
mod stage;
mod unique;
