//! A reader that loads the old version, and a writer who changes it and tells the cache before that load ends.

use std::{sync::Arc, time::Duration};

use contest::{Origin, Shared};
use futures::{StreamExt, stream};

use crate::{Lateness, Races};

/// So many run at a time.
const AT_ONCE: usize = 64;

/// Longer than any race takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lets them race, in an order that nothing is left to decide of.
pub async fn races(
    reader: &Arc<dyn Shared>,
    writer: &Arc<dyn Shared>,
    Races { first, count }: Races,
) -> Lateness {
    let numbered = (first..first + count).map(|number| {
        let race = race(reader.clone(), writer.clone(), format!("race-{number:09}"));
        async { tokio::time::timeout(PATIENCE, race).await.ok().flatten() }
    });
    let ended = stream::iter(numbered).buffer_unordered(AT_ONCE);
    let told = |told: Lateness, stale: Option<bool>| async move {
        Lateness {
            stale: told.stale + u64::from(stale == Some(true)),
            errors: told.errors + u64::from(stale.is_none()),
        }
    };
    ended.fold(Lateness::default(), told).await
}

/// Whether the reader has the old version afterwards.
async fn race(reader: Arc<dyn Shared>, writer: Arc<dyn Shared>, key: String) -> Option<bool> {
    let origin = Origin::held();
    let read = tokio::spawn(reader.read(key.clone(), origin.clone()));
    origin.begun().await;
    origin.raise();
    let told = writer.forget(key.clone()).await;
    origin.release();
    read.await.ok()??;
    let version = reader.read(key, origin.clone()).await?;
    told.then_some(version < origin.version())
}
