//! The SQLite file: the slow query over its products, and the change of a price.

use std::{
    num::NonZeroU32,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use sqlx::{
    ConnectOptions, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

/// What `schema.sql` sets.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Product {
    id: u32,
    name: String,
    category: String,
    price_cents: u32,
    rating: f64,
    /// Its place among the products of its category, and how many these are.
    rank: u32,
    of: u32,
}

#[derive(Clone)]
pub(crate) struct Database {
    pool: SqlitePool,
    queries: Arc<AtomicU64>,
}

impl Database {
    /// Opens the file at `path`, or makes it.
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        // Without sqlx's warnings of slow statements, since one is meant to be slow.
        let options =
            SqliteConnectOptions::new().filename(path).create_if_missing(true).disable_statement_logging();
        // SQLite computes on this machine's cores; more queries at a time would only slow each other.
        let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await?;
        fill_if_empty(&pool).await?;
        Ok(Self { pool, queries: Arc::default() })
    }

    /// Reads a product with its rank, which takes about 200 ms.
    pub(crate) async fn product(&self, id: u32) -> Result<Option<Product>, sqlx::Error> {
        self.queries.fetch_add(1, Relaxed);
        let row: Option<(String, String, u32, f64, u32, u32)> =
            sqlx::query_as(include_str!("product.sql")).bind(id).fetch_optional(&self.pool).await?;
        Ok(row.map(|(name, category, price_cents, rating, rank, of)| Product {
            id,
            name,
            category,
            price_cents,
            rating,
            rank,
            of,
        }))
    }

    /// Commits a new price. Returns whether there is such a product.
    pub(crate) async fn set_price(&self, id: u32, cents: NonZeroU32) -> Result<bool, sqlx::Error> {
        let update = sqlx::query("UPDATE product SET price_cents = ?1 WHERE id = ?2");
        let done = update.bind(cents.get()).bind(id).execute(&self.pool).await?;
        Ok(done.rows_affected() == 1)
    }

    /// How often a product was read since the program began.
    pub(crate) fn queries(&self) -> u64 {
        self.queries.load(Relaxed)
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// Makes the products, unless they are there.
async fn fill_if_empty(pool: &SqlitePool) -> Result<()> {
    // Immediate, so that of two programs that find the file empty only one fills it.
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let state = "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    match sqlx::query_as(state).fetch_one(&mut *transaction).await? {
        (VERSION, _) => return Ok(()),
        (0, 0) => {}
        (_, _) => bail!("it holds something else"),
    }
    sqlx::raw_sql(include_str!("schema.sql")).execute(&mut *transaction).await?;
    transaction.commit().await?;
    // Kept by the file, and set only in one that was made here. Reads go on while a price is written.
    sqlx::query("PRAGMA journal_mode = WAL").execute(pool).await?;
    Ok(())
}
