//! The layers, in front of real routers: who is asking, and what is believed of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod anonymous;
mod callers;
mod stage;
