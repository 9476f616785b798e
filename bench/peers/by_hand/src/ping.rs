//! One round trip, by the client's plain connection.

use contest::Step;
use futures::future::BoxFuture;
use redis::{Client, aio::MultiplexedConnection};
use tokio::runtime::Runtime;

/// The name in the tables.
pub const ROUND_TRIP: &str = "one round trip";

/// One process that asks for nothing.
#[derive(Debug, Clone)]
pub struct Ping(MultiplexedConnection);

impl Ping {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        let client = Client::open(url).expect("the rig's URL is valid");
        let connection = runtime.block_on(client.get_multiplexed_async_connection());
        Self(connection.expect("the rig's server answers"))
    }
}

impl Step for Ping {
    fn name(&self) -> &'static str {
        ROUND_TRIP
    }

    fn step(&self, _number: usize) -> BoxFuture<'static, bool> {
        let mut redis = self.0.clone();
        Box::pin(async move { redis::cmd("PING").exec_async(&mut redis).await.is_ok() })
    }
}
