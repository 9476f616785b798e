//! A running coach whose answers come from a language model, with all of Forebay in front.
//!
//! | to see | read |
//! |---|---|
//! | what a request goes through | `routes`, `callers` |
//! | answers that are asked for once, and old ones when the model fails | `ask`, `source` |
//! | a change that all instances see | `profile`, `runners` |
//! | what must not happen twice | `plan`, `codes`, `payments` |
//! | what operators see | `figures` |
//! | what is slow or has the last word | `model`, `store` |
//! | how it is put together | `service` |

mod ask;
mod body;
mod callers;
mod codes;
mod figures;
mod model;
mod payments;
mod plan;
mod problem;
mod profile;
mod routes;
mod runners;
mod service;
mod source;
pub mod stand_in;
mod store;

pub use service::{Instance, Settings};
