//! Forebay in several operating-system processes over one Redis: the processes, what they are told, and the check of
//! what they did.
//!
//! | to see | read |
//! |---|---|
//! | what a process does when it is told to | `bin/worker/` |
//! | how it is told | [`order`], [`hold`], [`crew`] |
//! | whether what happened was allowed | [`history`] |
//! | who holds a lock under fire | [`fire`], which writes to a [`ledger`] |
//! | whether the cache keeps its promises whatever goes wrong | [`chaos`] |
//! | what goes on for half an hour | `bin/soak/` |

pub mod chaos;
pub mod crew;
pub mod fire;
pub mod history;
pub mod hold;
pub mod ledger;
pub mod moment;
pub mod order;
pub mod rows;
