//! The coach as its clients see it: processes of their own over a database of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer;
mod ask;
mod callers;
mod codes;
mod crowd;
mod faults;
mod figures;
mod fleet;
mod model;
mod payments;
mod plan;
mod process;
mod profile;
mod program;
mod records;
mod refusals;
mod runners;
mod settings;
mod story;
mod weather;
mod world;
