//! The snippets over Redis that services copy.

mod bits;
mod claim;
mod load;
mod once;
mod one;
mod ping;
mod visitors;
mod window;

use redis::{Client, aio::ConnectionManager};
use tokio::runtime::Runtime;

pub use self::{
    bits::{Bits, GETBITS},
    claim::{Claim, PIPELINED_CLAIM},
    load::ByHand,
    once::{Once, SET_AND_GET},
    one::{ONE_COMMAND, OneCommand},
    ping::{Ping, ROUND_TRIP},
    visitors::Visitors,
    window::{SORTED_SET, SortedSet},
};

/// A connection that its client keeps up, with the client's own settings.
fn connect(runtime: &Runtime, url: &str) -> ConnectionManager {
    let client = Client::open(url).expect("the rig's URL is valid");
    runtime.block_on(ConnectionManager::new(client)).expect("the rig's server answers")
}
