//! The catalog as its clients see it: a process of its own over a database of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod failures;
mod prices;
mod program;
mod reads;
