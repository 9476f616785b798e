//! The servers that all processes share.

use forebay_rig::{Redis, Replicated, Sentinels, ServerClock};

use super::{fault::Site, way::Way};

/// What all processes share. Another topology is another variant.
#[derive(Debug)]
pub enum Ground {
    /// One server under a clock that can be moved, each process behind a proxy.
    One(Redis, ServerClock),
    /// Three primaries with their replicas, whose clients know the way by themselves.
    Cluster(Replicated),
    /// A primary with its replicas, whose clients ask sentinels for the way: each process behind proxies.
    Sentinels(Sentinels),
}

impl Ground {
    /// Starts the servers of this kind.
    ///
    /// # Panics
    ///
    /// If they do not get ready.
    pub fn start(site: Site) -> Self {
        match site {
            Site::One => {
                let (redis, clock) = Redis::with_running_clock();
                Self::One(redis, clock)
            }
            Site::Cluster => Self::Cluster(Replicated::start()),
            Site::Sentinels => Self::Sentinels(Sentinels::start()),
        }
    }

    pub(super) fn site(&self) -> Site {
        match self {
            Self::One(..) => Site::One,
            Self::Cluster(_) => Site::Cluster,
            Self::Sentinels(_) => Site::Sentinels,
        }
    }

    pub(super) fn keys_without_expiry(&self) -> Vec<String> {
        match self {
            Self::One(redis, _) => redis.keys_without_expiry(),
            Self::Cluster(cluster) => cluster.keys_without_expiry(),
            Self::Sentinels(servers) => servers.keys_without_expiry(),
        }
    }

    /// Waits until the servers agree who is who, where that takes longer than a fault.
    pub(super) fn settle(&self) {
        if let Self::Sentinels(servers) = self {
            servers.settle();
        }
    }

    /// Has the replicas of a primary hear nothing more, where sentinels make another one of them the primary.
    pub(super) fn cut_replicas_off(&self) {
        if let Self::Sentinels(servers) = self {
            servers.cut_replicas_off();
        }
    }

    /// The way of one process.
    pub(super) async fn way(&self) -> Way {
        match self {
            Self::One(redis, _) => Way::through_proxy(redis).await,
            Self::Cluster(cluster) => Way::straight(cluster.url()),
            Self::Sentinels(servers) => Way::by_detours(servers).await,
        }
    }
}
