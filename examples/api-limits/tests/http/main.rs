//! The program as its clients see it: a process of its own on a real socket.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod headers;
mod keys;
mod load;
mod program;
