//! What is known of a runner, read through a cache in front of which a filter stops ids that nobody has.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use axum::{extract::FromRequestParts, http::request::Parts};
use forebay::{
    Forebay,
    cache::{Cache, Invalidated, LoadError},
    filter::{Filter, Rebuild, Rebuilt},
};
use tokio::time::sleep;

use crate::{
    callers::{self, Known},
    problem::Problem,
    service::Coach,
    store::{Athlete, Store},
};

/// How often it is looked whether the filter is whole: it is not after a restart of Redis.
const LOOK: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) struct Runners {
    cache: Cache<Athlete>,
    known: Filter,
    store: Store,
}

/// The runner of a request, with what is known of them.
pub(crate) struct Runner {
    pub(crate) id: String,
    pub(crate) athlete: Arc<Athlete>,
}

impl Runners {
    pub(crate) fn new(forebay: &Forebay, store: Store) -> Result<Self> {
        let known = forebay.filter("runners", 100_000, 0.01).visible_within(Duration::ZERO).build()?;
        let cache = forebay
            .cache("runner", Duration::from_secs(600))
            .absent_for(Duration::from_secs(30))
            // Kept in Redis alone: a read of it costs a tenth of a millisecond, and sees each change at once.
            .local_time_to_live(Duration::ZERO)
            .guarded_by(&known)
            .build()?;
        Ok(Self { cache, known, store })
    }

    async fn find(&self, id: &str) -> Result<Option<Arc<Athlete>>, LoadError<sqlx::Error>> {
        let store = self.store.clone();
        self.cache.find_or_load(id, async move |load| store.athlete(load.id()).await).await
    }

    /// Forgets what was known of a runner; once their row is committed.
    pub(crate) async fn invalidate(&self, id: &str) -> Invalidated {
        self.cache.invalidate(id).await
    }

    /// Fills the filter again whenever it is not whole.
    pub(crate) async fn keep_filter(self) {
        loop {
            sleep(LOOK).await;
            self.look_at_filter().await;
        }
    }

    /// Fills the filter unless it is whole. Until then it stops nobody.
    pub(crate) async fn look_at_filter(&self) {
        let whole = self.known.figures().await.is_ok_and(|figures| figures.complete);
        if !whole && let Err(error) = self.fill_filter().await {
            tracing::warn!(%error, "unknown runners are looked up for now: their filter was not filled");
        }
    }

    async fn fill_filter(&self) -> Result<Rebuilt> {
        let all = async |filter: &Rebuild| -> Result<()> {
            filter.add_all(self.store.runners().await?).await?;
            Ok(())
        };
        self.known.rebuild(all).await
    }
}

impl FromRequestParts<Coach> for Runner {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, coach: &Coach) -> Result<Self, Problem> {
        let Known = Known::from_request_parts(head, coach).await?;
        let id = callers::named(&head.headers).ok_or_else(Problem::no_user)?;
        let athlete = coach.runners.find(id).await?.ok_or_else(|| Problem::no_such_user(id))?;
        Ok(Self { id: id.to_owned(), athlete })
    }
}
