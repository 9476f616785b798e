//! The SQLite file: charges, mails and plans. Instances on one machine share it.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

/// What `schema.sql` sets.
const VERSION: u32 = 1;

#[derive(Debug, Serialize)]
pub(crate) struct Charge {
    pub(crate) id: i64,
    pub(crate) order: String,
    pub(crate) cents: u32,
}

#[derive(Debug, Serialize)]
pub(crate) struct Plan {
    pub(crate) id: String,
    pub(crate) goal: String,
    pub(crate) steps: String,
    /// How often it was written.
    pub(crate) revision: u32,
    /// Under which it was written.
    pub(crate) fence: u64,
}

#[derive(Clone)]
pub(crate) struct Database(SqlitePool);

impl Database {
    /// Opens the file at `path`, or makes it.
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await?;
        fill_if_empty(&pool).await?;
        Ok(Self(pool))
    }

    pub(crate) async fn charge(&self, payer: &str, order: &str, cents: u32) -> Result<i64, sqlx::Error> {
        let charge = r#"INSERT INTO charge (payer, "order", cents) VALUES (?1, ?2, ?3) RETURNING id"#;
        let charged = sqlx::query_as(charge).bind(payer).bind(order).bind(cents).fetch_one(&self.0);
        let (id,) = charged.await?;
        Ok(id)
    }

    /// What a payer was charged, the last first.
    pub(crate) async fn charges(&self, payer: &str) -> Result<Vec<Charge>, sqlx::Error> {
        let charges = r#"SELECT id, "order", cents FROM charge WHERE payer = ?1 ORDER BY id DESC LIMIT 100"#;
        let rows: Vec<(i64, String, u32)> = sqlx::query_as(charges).bind(payer).fetch_all(&self.0).await?;
        Ok(rows.into_iter().map(|(id, order, cents)| Charge { id, order, cents }).collect())
    }

    pub(crate) async fn deliver(&self, email: &str, code: &str) -> Result<(), sqlx::Error> {
        let deliver = sqlx::query("INSERT INTO mail (email, code) VALUES (?1, ?2)");
        deliver.bind(email).bind(code).execute(&self.0).await?;
        Ok(())
    }

    pub(crate) async fn plan(&self, id: &str) -> Result<Option<Plan>, sqlx::Error> {
        let plan = "SELECT goal, steps, revision, fence FROM plan WHERE id = ?1";
        let row: Option<(String, String, u32, i64)> =
            sqlx::query_as(plan).bind(id).fetch_optional(&self.0).await?;
        Ok(row.map(|(goal, steps, revision, fence)| Plan {
            id: id.into(),
            goal,
            steps,
            revision,
            fence: fence.cast_unsigned(),
        }))
    }

    /// Writes a plan and returns its revision; nothing, and writes nothing, if it was written under a larger fence.
    pub(crate) async fn put_plan(
        &self,
        id: &str,
        goal: &str,
        steps: &str,
        fence: u64,
    ) -> Result<Option<u32>, sqlx::Error> {
        let put = sqlx::query_as(include_str!("put_plan.sql")).bind(id).bind(goal).bind(steps);
        let row: Option<(u32,)> = put.bind(fence.cast_signed()).fetch_optional(&self.0).await?;
        Ok(row.map(|(revision,)| revision))
    }

    pub(crate) async fn close(&self) {
        self.0.close().await;
    }
}

/// Makes the tables, unless they are there.
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
    // Kept by the file, and set only in one that was made here.
    sqlx::query("PRAGMA journal_mode = WAL").execute(pool).await?;
    Ok(())
}
