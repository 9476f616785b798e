//! What the limiter's scripts are proved to do: the shipped text runs in process against an exact model.
//!
//! | to see | read |
//! |---|---|
//! | where the scripts run | `server`, `scripts` |
//! | what is true of every mode, in terms of a plain list | `model`, `laws` |
//! | how a history is held against it | `trial`, `histories` |
//! | the proofs | `bounds`, `clocks`, `changes`, `settles`, `refusals`, `edges`, `corrupt`, `long` |
//! | that memory and scripts agree | `differential` |
//! | that the proofs can fail | `mutations` |

mod bounds;
mod changes;
mod clocks;
mod corrupt;
mod differential;
mod edges;
mod histories;
mod laws;
mod long;
mod model;
mod mutations;
mod refusals;
mod scripts;
mod server;
mod settles;
mod trial;
