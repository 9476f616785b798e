//! One suite over every store: a case is written once against a rig, and stamped for each of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod clocked;
mod cluster;
mod edge;
mod memory;
mod notes;
mod polls;
mod redis;
mod rig;
mod scripts;
mod server;
mod stored;
mod whim;
