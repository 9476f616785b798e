//! The products as the program sees them: everything in it that caches.

use std::{num::NonZeroU32, time::Duration};

use anyhow::Result;
use forebay::{
    Forebay,
    cache::{Cache, Entry, LoadError, Stats},
};

use crate::{
    database::{Database, Product},
    timing::Timing,
};

#[derive(Clone)]
pub(crate) struct Catalog {
    products: Cache<Product>,
    database: Database,
}

impl Catalog {
    pub(crate) fn new(forebay: &Forebay, database: Database) -> Result<Self> {
        let products = forebay
            .cache::<Product>("catalog:product", Duration::from_hours(1))
            .stale_for(Duration::from_hours(6))
            .absent_for(Duration::from_secs(30))
            .build()?;
        Ok(Self { products, database })
    }

    pub(crate) async fn product(
        &self,
        id: u32,
        timing: &Timing,
    ) -> Result<Option<Entry<Product>>, LoadError<sqlx::Error>> {
        let database = self.database.clone();
        let timed = timing.clone();
        let load = async move |_| timed.query(database.product(id)).await;
        self.products.find_entry_or_load(id.to_string(), load).await
    }

    /// Returns whether there is such a product.
    pub(crate) async fn set_price(&self, id: u32, cents: NonZeroU32) -> Result<bool, sqlx::Error> {
        let Self { products, database } = self.clone();
        // A task of its own, since a client that hangs up drops its handler, perhaps between the two.
        let change = tokio::spawn(async move {
            let changed = database.set_price(id, cents).await;
            // Also after an error, which does not prove that nothing was committed.
            products.invalidate(id.to_string()).await;
            changed
        });
        change.await.unwrap_or(Err(sqlx::Error::WorkerCrashed))
    }

    /// How often the slow query was run, and what the cache did.
    pub(crate) fn stats(&self) -> (u64, Stats) {
        (self.database.queries(), self.products.stats())
    }
}
