//! Forebay in several operating-system processes over one Redis: the processes, what they are told, and the check of
//! what they did.
//!
//! | to see | read |
//! |---|---|
//! | what a process does when it is told to | `bin/worker/` |
//! | how it is told | [`order`], [`crew`] |
//! | whether what happened was allowed | [`history`] |
//! | what goes on for half an hour | `bin/soak/` |

pub mod crew;
pub mod history;
pub mod moment;
pub mod order;
