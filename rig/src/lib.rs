//! Real Redis servers for tests, on free ports of this machine, gone with the process that started them.
//!
//! Whatever goes wrong here fails the test that asked for it, so that nothing returns an error: it panics.

mod clock;
mod cluster;
mod connection;
mod keys;
mod launch;
mod pace;
mod patience;
mod port;
mod process;
mod redis;
mod replicated;
mod reply;
mod sentinels;
mod spawner;
mod starved;
mod stats;
mod timing;
mod tls;

pub use clock::ServerClock;
pub use cluster::Cluster;
pub use pace::Pace;
pub use redis::Redis;
pub use replicated::Replicated;
pub use reply::Reply;
pub use sentinels::Sentinels;
pub use spawner::{dying, spawn};
pub use starved::unless_starved;
pub use timing::{least, median, timed};
pub use tls::Tls;
