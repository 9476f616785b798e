//! Several processes over one real server: what one changes the others do not serve, whatever is lost on the way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aged;
mod batches;
mod clocks;
mod crowds;
mod denials;
mod filters;
mod foreign;
mod gate;
mod heard;
mod holders;
mod lives;
mod locks;
mod lost;
mod matching;
mod once;
mod origin;
mod outage;
mod overtaken;
mod quotas;
mod refused;
mod rig;
mod tags;
mod topics;
mod tracked;
mod unheard;
mod versions;
mod withheld;
