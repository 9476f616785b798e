//! The snippets over Redis that services copy.

mod load;
mod one;
mod window;

use redis::{Client, aio::ConnectionManager};
use tokio::runtime::Runtime;

pub use self::{
    load::ByHand,
    one::{ONE_COMMAND, OneCommand},
    window::{SORTED_SET, SortedSet},
};

/// A connection that its client keeps up, with the client's own settings.
fn connect(runtime: &Runtime, url: &str) -> ConnectionManager {
    let client = Client::open(url).expect("the rig's URL is valid");
    runtime.block_on(ConnectionManager::new(client)).expect("the rig's server answers")
}
