//! The layers, in front of real routers: who is asking, what is believed of it, and how much they may.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod anonymous;
mod callers;
mod composed;
mod limits;
mod refusals;
mod stage;
