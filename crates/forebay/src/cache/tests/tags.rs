//! Forced races between what is invalidated by a tag and what is under way.

use std::{convert::Infallible, sync::Arc};

use super::{LIFE, cache, process, settle, stores::Gated};
use crate::cache::{Cache, Invalidated, Load, Loaded, options::Options};

fn red(value: u64) -> Loaded<u64> {
    Loaded::new(value).tag("red")
}

async fn load(cache: &Cache<u64>, value: u64) -> u64 {
    *cache.get_or_load("a", async move |_| Ok::<_, Infallible>(red(value))).await.expect("it succeeds")
}

/// A process over a gated store, and another one over the same store, neither of which hears the other.
async fn two(
    options: impl Fn(&Options) -> Options,
) -> (Cache<u64>, Arc<Gated>, Cache<u64>, crate::clock::Manual) {
    let (common, time) = cache();
    let gated = Gated::over(common.inner.backend.clone());
    let behind_gates = gated.clone();
    let here = process(&common, options(common.options()), |_| behind_gates);
    let elsewhere = process(&common, options(common.options()), |store| store);
    (here, gated, elsewhere, time)
}

// C15: JetCache forgets here, then there, and what is read in between is back.
#[tokio::test]
async fn what_is_read_while_its_tag_is_being_invalidated_is_not_used() {
    let (here, gated, ..) = two(Clone::clone).await;
    here.put("a", red(1)).await.unwrap();
    assert_eq!(load(&here, 9).await, 1);
    gated.change.close();
    let changer = here.clone();
    let change = tokio::spawn(async move { changer.invalidate_tag("red").await });
    settle().await;
    assert_eq!(load(&here, 2).await, 2);
    settle().await;
    gated.change.reopen();
    assert_eq!(change.await.unwrap(), Invalidated::Everywhere);
    assert_eq!(load(&here, 3).await, 3);
}

// C6: FusionCache #638, where the tag is invalidated after the stale value was read and before the load begins.
#[tokio::test]
async fn a_stale_value_that_is_invalidated_before_its_load_begins_is_not_offered_as_unmodified() {
    let keeps = |options: &Options| Options { stale_for: LIFE, ..options.clone() };
    let (here, gated, elsewhere, time) = two(keeps).await;
    here.put("a", red(1)).await.unwrap();
    assert_eq!(load(&here, 9).await, 1);
    time.advance(LIFE);
    gated.read.close();
    let reader = here.clone();
    let read = tokio::spawn(async move {
        let loader =
            async |load: Load<u64>| Ok::<_, Infallible>(load.not_modified().unwrap_or_else(|| red(2)));
        *reader.get_or_load("a", loader).await.expect("it succeeds")
    });
    settle().await;
    elsewhere.invalidate_tag("red").await;
    gated.read.reopen();
    assert_eq!(read.await.unwrap(), 2);
}

// What the store accepted before a tag was invalidated does not serve who comes after that.
#[tokio::test]
async fn who_comes_after_an_invalidated_tag_is_not_served_by_a_fill_on_its_way() {
    let (here, gated, ..) = two(Clone::clone).await;
    gated.settle.close();
    let early = here.clone();
    let early = tokio::spawn(async move { load(&early, 1).await });
    settle().await;
    here.invalidate_tag("red").await;
    let late = here.clone();
    let late = tokio::spawn(async move { load(&late, 2).await });
    settle().await;
    gated.settle.reopen();
    assert_eq!((early.await.unwrap(), late.await.unwrap()), (1, 2));
    settle().await;
    assert_eq!(load(&here, 9).await, 2);
}
