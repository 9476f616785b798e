//! The servers that all processes share.

use forebay::testing::Proxy;
use forebay_rig::{Redis, Replicated, ServerClock};

use super::fault::Site;

/// What all processes share. Another topology is another variant.
#[derive(Debug)]
pub enum Ground {
    /// One server under a clock that can be moved, each process behind a proxy.
    One(Redis, ServerClock),
    /// Three primaries with their replicas, whose clients know the way by themselves.
    Cluster(Replicated),
}

impl Ground {
    /// Starts the servers of this kind.
    ///
    /// # Panics
    ///
    /// If they do not get ready.
    pub fn start(site: Site) -> Self {
        match site {
            Site::One | Site::Any => {
                let (redis, clock) = Redis::with_running_clock();
                Self::One(redis, clock)
            }
            Site::Cluster => Self::Cluster(Replicated::start()),
        }
    }

    pub(super) fn site(&self) -> Site {
        match self {
            Self::One(..) => Site::One,
            Self::Cluster(_) => Site::Cluster,
        }
    }

    pub(super) fn keys_without_expiry(&self) -> Vec<String> {
        match self {
            Self::One(redis, _) => redis.keys_without_expiry(),
            Self::Cluster(cluster) => cluster.keys_without_expiry(),
        }
    }

    pub(super) async fn way(&self) -> (String, Option<Proxy>) {
        match self {
            Self::One(redis, _) => {
                let server = format!("127.0.0.1:{}", redis.port());
                let proxy = Proxy::start(server).await.expect("a port is free");
                (proxy.url(), Some(proxy))
            }
            Self::Cluster(cluster) => (cluster.url(), None),
        }
    }
}
