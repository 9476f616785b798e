//! Where a node is found: at one address, or wherever sentinels say that the primary is.

use std::{future::pending, sync::Arc};

use redis::{ConnectionAddr, ConnectionInfo};

use super::sentinels::Sentinels;

/// To be asked at every connection.
#[derive(Debug, Clone)]
pub(super) enum Home {
    Fixed(Arc<ConnectionInfo>),
    Named(Arc<Sentinels>),
}

impl Home {
    pub(super) fn fixed(info: ConnectionInfo) -> Self {
        Self::Fixed(Arc::new(info))
    }

    /// Where to connect now.
    ///
    /// # Errors
    ///
    /// Why nobody says where.
    pub(super) async fn find(&self) -> Result<ConnectionInfo, String> {
        match self {
            Self::Fixed(info) => Ok((**info).clone()),
            Self::Named(sentinels) => sentinels.locate().await,
        }
    }

    /// Completes once what is at `place` is not to be used any more, though it may answer.
    pub(super) async fn leaves(&self, place: &ConnectionAddr) {
        match self {
            Self::Fixed(_) => pending().await,
            Self::Named(sentinels) => sentinels.depose(place).await,
        }
    }
}
