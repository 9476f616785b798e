//! A cluster whose slots move, whose nodes die, or that is not there: what callers notice. Real servers, real time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod absent;
mod batches;
#[path = "../outage/callers.rs"]
mod callers;
mod dead;
mod failover;
mod filters;
mod moved;
mod stage;
mod takeovers;
mod timing;
mod topics;
mod visitors;
mod written;
