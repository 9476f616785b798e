//! The snippets over Redis that services copy.

mod bits;
mod claim;
mod kept;
mod load;
mod once;
mod one;
mod ping;
mod plain;
mod two_levels;
mod visitors;
mod window;

use redis::{Client, aio::ConnectionManager};
use tokio::runtime::Runtime;

pub use self::{
    bits::{Bits, GETBITS},
    claim::{Claim, PIPELINED_CLAIM},
    load::Locking,
    once::{Once, SET_AND_GET},
    one::{ONE_COMMAND, OneCommand},
    ping::{Ping, ROUND_TRIP},
    plain::{Plain, Question},
    two_levels::MokaOverRedis,
    visitors::{PFADD, Visitors},
    window::{SORTED_SET, SortedSet},
};

/// The name in the tables of one that asks for the value.
pub const GET: &str = "`redis`: `GET`";

/// The name in the tables of one that asks for the value and how long it lives.
pub const PTTL_AND_GET: &str = "`redis`: `PTTL` and `GET`";

/// A connection that its client keeps up, with the client's own settings.
fn connect(runtime: &Runtime, url: &str) -> ConnectionManager {
    let client = Client::open(url).expect("the rig's URL is valid");
    runtime.block_on(ConnectionManager::new(client)).expect("the rig's server answers")
}
