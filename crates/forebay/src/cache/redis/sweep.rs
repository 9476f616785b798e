//! Invalidates a whole space, whose ids nobody has at hand: they are found by scanning for its keys.

use futures::stream::{self, StreamExt, TryStreamExt};

use super::RedisBackend;
use crate::{
    cache::backend::{Change, Unavailable},
    key::generations,
    redis::{Primary, Reply, Request},
};

/// How many entries are invalidated at a time.
const AT_A_TIME: usize = 64;

impl RedisBackend {
    /// Invalidates every entry of the space, and every load, found by their keys.
    pub(super) async fn sweep(&self) -> Result<(), Unavailable> {
        for version in generations(self.version) {
            for pattern in self.pair_of(version, "*") {
                for primary in self.redis.primaries()? {
                    self.sweep_at(&primary, &pattern).await?;
                }
            }
        }
        Ok(())
    }

    async fn sweep_at(&self, primary: &Primary, pattern: &str) -> Result<(), Unavailable> {
        let mut cursor = 0;
        loop {
            let mut page = primary.call(Request::Scan { cursor, pattern }).await?.into_list();
            let keys = page.pop().map(Reply::into_list).unwrap_or_default();
            let changes = stream::iter(keys.iter().filter_map(Reply::text)).map(Ok);
            let invalidate = async |key: &str| {
                let id = key.split_once('{').and_then(|(_, id)| id.strip_suffix('}'));
                self.change(id.unwrap_or_default(), Change::Invalidate).await
            };
            changes.try_for_each_concurrent(AT_A_TIME, invalidate).await?;
            let next = page.pop().and_then(|next| next.text()?.parse().ok());
            cursor = next.ok_or(Unavailable)?;
            if cursor == 0 {
                return Ok(());
            }
        }
    }
}
