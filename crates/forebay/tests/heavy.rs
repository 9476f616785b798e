//! Which ids are read most, whatever becomes of the reads.

use std::{collections::BTreeSet, convert::Infallible, time::Duration};

use forebay::{Forebay, cache::Load, dice::Dice};

const MINUTE: Duration = Duration::from_secs(60);

/// So often is an id read that it is in every sample.
const READS: usize = 400;

#[tokio::test]
async fn ids_count_as_read_also_where_nothing_is_stored_for_them() {
    let forebay =
        Forebay::builder("heavy").memory().heavy_hitters().dice(Dice::seeded(1)).build().await.unwrap();
    let cache = forebay.cache::<u64>("numbers", MINUTE).build().unwrap();
    for _ in 0..READS {
        cache.get_or_load("failing", async |_: Load<u64>| Err::<u64, _>("no origin")).await.unwrap_err();
        assert!(
            cache
                .find_or_load("absent", async |_| Ok::<Option<u64>, Infallible>(None))
                .await
                .unwrap()
                .is_none()
        );
        drop(cache.get("missing").await);
        cache.get_or_load("stored", async |_| Ok::<_, Infallible>(7)).await.unwrap();
    }

    let hot = forebay.hot_keys();

    let ids: BTreeSet<_> = hot.iter().map(|key| key.id.as_str()).collect();
    assert_eq!(ids, BTreeSet::from(["absent", "failing", "missing", "stored"]));
    let all: u64 = hot.iter().map(|key| key.reads).sum();
    assert!(all.abs_diff(4 * READS as u64) < READS as u64, "{hot:?}");
}
