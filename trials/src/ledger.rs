//! What is written under a lock: a row of SQLite that refuses old holders, and remembers whose writes have landed.

use std::path::Path;

use sqlx::{Row, SqlitePool};

use crate::rows;

const TABLES: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS plan (id INTEGER PRIMARY KEY, fence INTEGER NOT NULL, step INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS landed (number INTEGER PRIMARY KEY AUTOINCREMENT, fence INTEGER NOT NULL)",
    "CREATE TRIGGER IF NOT EXISTS remembers AFTER UPDATE ON plan \
     BEGIN INSERT INTO landed (fence) VALUES (NEW.fence); END",
    "INSERT OR IGNORE INTO plan VALUES (1, 0, 0)",
];

/// A holder's own steps follow each other, and nobody else has its fence.
const WRITE: &str = "UPDATE plan SET fence = ?1, step = ?2 WHERE id = 1 AND (fence, step) < (?1, ?2)";
const LANDED: &str = "SELECT fence FROM landed ORDER BY number";

/// The row; cheap to clone.
#[derive(Debug, Clone)]
pub struct Ledger(SqlitePool);

impl Ledger {
    /// Opens the file at `path`, with a row that nobody has written.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub async fn open(path: &Path) -> sqlx::Result<Self> {
        let rows = rows::open(path).await?;
        for table in TABLES {
            sqlx::query(table).execute(&rows).await?;
        }
        Ok(Self(rows))
    }

    /// Writes the `step`th time, from 1 on, under `fence`; `false` where a later holder has written.
    ///
    /// # Panics
    ///
    /// If SQLite does not answer.
    pub async fn write(&self, fence: u64, step: u64) -> bool {
        let number = |number: u64| i64::try_from(number).expect("fences and steps are below 2^63");
        let write = sqlx::query(WRITE).bind(number(fence)).bind(number(step));
        write.execute(&self.0).await.expect("SQLite answers").rows_affected() == 1
    }

    /// The fences of the writes that have landed, in their order.
    ///
    /// # Panics
    ///
    /// If SQLite does not answer.
    pub async fn landed(&self) -> Vec<u64> {
        let rows = sqlx::query(LANDED).fetch_all(&self.0).await.expect("SQLite answers");
        rows.iter().map(|row| row.get::<i64, _>(0).try_into().expect("fences are above 0")).collect()
    }
}
