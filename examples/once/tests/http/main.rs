//! The service as its clients see it: processes of their own over a database of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer;
mod codes;
mod payments;
mod plans;
mod program;
mod records;
mod visitors;
