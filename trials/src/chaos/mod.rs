//! Several processes over one store that fails in every way known, and whether what they saw is what the cache
//! promises.
//!
//! | to see | read |
//! |---|---|
//! | what may go wrong, and what the promises say about it | [`fault`] |
//! | in which order, from one seed | `plan` |
//! | how it is done to processes and servers | `strikes`, `cluster`, `sentinels` |
//! | what is arranged so that it shows | `scenes` |
//! | what the processes are asked meanwhile | [`operation`], `clients` |
//! | where all of this takes place | `ground` for the servers, `way` to them, [`arena`] for the processes before them |
//! | what is written down | [`history`] |
//! | what must not be in it | [`check`] |
//! | what is told in the end | `table`, [`report`] |

pub mod arena;
pub mod check;
mod clients;
mod cluster;
pub mod fault;
mod ground;
pub mod history;
pub mod operation;
mod plan;
pub mod report;
mod scenes;
mod sentinels;
mod starved;
mod strikes;
mod table;
mod way;

use std::time::Duration;

pub use self::{
    arena::{Players, play},
    check::{Promise, Verdict},
    ground::Ground,
    history::History,
};

/// How long Redis is waited for: longer than a busy machine keeps an answer back.
pub const BUDGET: Duration = Duration::from_millis(500);

/// For how long a holder keeps others out that cannot renew.
pub const LEASE: Duration = Duration::from_secs(2);

/// How long a load may take.
pub const LOAD_TIMEOUT: Duration = Duration::from_secs(3);
/// How long somebody else's load is waited for.
pub const WAIT: Duration = Duration::from_secs(10);

/// How much later than its caller knows a change that was not confirmed may still be done, once Redis is back.
pub const REPLAYED: Duration = Duration::from_secs(3);

/// How many processes play.
pub const PROCESSES: usize = 4;

/// The process that keeps nothing in its memory.
pub const FORGETFUL: usize = PROCESSES - 1;
