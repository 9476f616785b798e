//! One suite over every store: a case is written once against a rig, and stamped for each of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod cluster;
mod memory;
mod redis;
mod rig;
mod scripts;
mod server;
mod whim;
