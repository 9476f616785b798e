//! The server as its clients see it: a process of its own, and whatever HTTP can say.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod announcement;
mod auth;
mod cache;
mod cache_batch;
mod claims;
mod cli;
mod coherence;
mod config;
mod dashboard;
mod doctor;
mod events;
mod headers;
mod health;
mod idempotency;
mod ids;
mod lease;
mod leftover;
mod limits;
mod limits_batch;
mod limits_shared;
mod locks;
mod matching;
mod metrics;
mod misuse;
mod monitor;
mod openapi;
#[cfg(feature = "otlp")]
mod otlp;
mod own_limits;
mod refusals;
mod reload;
mod shared;
mod shutdown;
mod stampede;
mod strangers;
mod support;
mod tags;
mod unique;
mod without_redis;
