//! An acceleration layer for APIs: what is slow or costly behind a service is asked once, not once per caller.
//!
//! # Map
//!
//! Imports point down only.
//!
//! | floor | modules | what they are |
//! |---|---|---|
//! | 8 | `metrics` (a feature) | all that happens, in figures for any exporter |
//! | 7 | [`Forebay`] | opens the store, hands out primitives, shuts down |
//! | 7 | `testing` (a feature) | faults: between a program and its Redis, or of the memory store |
//! | 6 | `http` (the features `tower` and `axum`) | layers: who is asking, and how much they may |
//! | 5 | [`cache`] | two levels, one load per miss |
//! | 5 | [`health`] | whether Redis is well, and what to do where it is not |
//! | 4 | [`limiter`] | tiers of windows, decided in one step |
//! | 4 | [`lock`] | one at a time, and told when that is over |
//! | 4 | [`once`] | claims, and work that runs once however often it is asked for |
//! | 4 | [`unique`] | different visitors by the day |
//! | 4 | [`filter`] | ids that cannot exist |
//! | 4 | [`topic`] | messages of applications, kept or not, and shared by groups of consumers |
//! | 3 | `bus` | what processes tell each other |
//! | 2 | `context`, `wake` | what every primitive is built from; who waits for what |
//! | 1 | `redis`, `expiring` | the one handle to Redis; the map with deadlines under every memory backend |
//! | 0 | [`clock`], [`codec`], [`dice`], [`key`], [`observe`], [`status`], [`Subject`], [`Error`], … | values and the world |

mod bus;
pub mod cache;
pub mod clock;
pub mod codec;
mod context;
mod counter;
pub mod dice;
mod error;
mod expiring;
pub mod filter;
mod forebay;
mod hash;
pub mod health;
mod heavy;
#[cfg(feature = "tower")]
pub mod http;
pub mod key;
pub mod limiter;
pub mod lock;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod observe;
pub mod once;
mod redis;
pub mod status;
mod subject;
mod sync;
mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
mod token;
pub mod topic;
pub mod unique;
mod wake;

pub use self::{
    error::{Error, ErrorKind},
    forebay::{Builder, Figures, Forebay, MemoryFigures, SpaceFigures},
    key::Fingerprint,
    subject::Subject,
    token::Token,
};

/// The Rust blocks of the README and of the page on the library, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/library.md")]
struct Readme;
