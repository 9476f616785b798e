//! The SQLite file, which has the last word on everything. Instances on one machine share it.

use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use crate::callers;

/// What `schema.sql` sets.
const VERSION: u32 = 2;

/// What a coach needs to know of a runner, and what their answers depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Athlete {
    pub(crate) profile: Profile,
    /// The last ones, the newest first.
    pub(crate) runs: Vec<Run>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// Millilitres of oxygen per minute and kilogram.
    pub(crate) vo2max: f64,
    /// The pace at the lactate threshold, in seconds per kilometre.
    pub(crate) lt_pace: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) day: String,
    pub(crate) km: f64,
    pub(crate) minutes: u32,
}

/// Who has an API key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) tier: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Charge {
    pub(crate) id: i64,
    pub(crate) order: String,
    pub(crate) cents: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Store(SqlitePool);

impl Store {
    /// Opens the file at `path`, or makes it, with 100 runners.
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let pool = SqlitePoolOptions::new().max_connections(8).connect_with(options).await?;
        fill_if_empty(&pool).await?;
        Ok(Self(pool))
    }

    pub(crate) async fn app(&self, key_hash: &str) -> Result<Option<App>, sqlx::Error> {
        let app = sqlx::query_as("SELECT name, tier FROM app WHERE key_hash = ?1");
        let row: Option<(String, String)> = app.bind(key_hash).fetch_optional(&self.0).await?;
        Ok(row.map(|(name, tier)| App { name, tier }))
    }

    pub(crate) async fn athlete(&self, id: &str) -> Result<Option<Athlete>, sqlx::Error> {
        let profile = sqlx::query_as("SELECT vo2max, lt_pace FROM runner WHERE id = ?1");
        let Some((vo2max, lt_pace)) = profile.bind(id).fetch_optional(&self.0).await? else {
            return Ok(None);
        };
        let runs =
            sqlx::query_as("SELECT day, km, minutes FROM run WHERE runner = ?1 ORDER BY day DESC LIMIT 5");
        let runs: Vec<(String, f64, u32)> = runs.bind(id).fetch_all(&self.0).await?;
        let runs = runs.into_iter().map(|(day, km, minutes)| Run { day, km, minutes }).collect();
        Ok(Some(Athlete { profile: Profile { vo2max, lt_pace }, runs }))
    }

    /// The ids of all runners.
    pub(crate) async fn runners(&self) -> Result<Vec<String>, sqlx::Error> {
        let ids: Vec<(String,)> = sqlx::query_as("SELECT id FROM runner").fetch_all(&self.0).await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// Commits a new profile.
    pub(crate) async fn set_profile(&self, id: &str, profile: Profile) -> Result<(), sqlx::Error> {
        let update = sqlx::query("UPDATE runner SET vo2max = ?2, lt_pace = ?3 WHERE id = ?1");
        update.bind(id).bind(profile.vo2max).bind(profile.lt_pace).execute(&self.0).await?;
        Ok(())
    }

    /// Writes a plan and returns its revision; nothing, and writes nothing, if there is one with a larger fence.
    pub(crate) async fn put_plan(
        &self,
        runner: &str,
        goal: &str,
        body: &str,
        fence: u64,
    ) -> Result<Option<u32>, sqlx::Error> {
        let put = sqlx::query_as(include_str!("put_plan.sql")).bind(runner).bind(goal).bind(body);
        let row: Option<(u32,)> = put.bind(fence.cast_signed()).fetch_optional(&self.0).await?;
        Ok(row.map(|(revision,)| revision))
    }

    /// Tells the bank, which is imitated, to charge a runner for an order.
    pub(crate) async fn tell_bank(&self, runner: &str, order: &str) -> Result<(), sqlx::Error> {
        let tell = sqlx::query(r#"INSERT INTO bank (runner, "order") VALUES (?1, ?2)"#);
        tell.bind(runner).bind(order).execute(&self.0).await?;
        Ok(())
    }

    /// Charges a runner for an order, unless that was done before. Returns the one charge of the order.
    pub(crate) async fn charge(&self, runner: &str, order: &str, cents: u32) -> Result<Charge, sqlx::Error> {
        let charge =
            r#"INSERT INTO charge (runner, "order", cents) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"#;
        sqlx::query(charge).bind(runner).bind(order).bind(cents).execute(&self.0).await?;
        self.charged(runner, order).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// What a runner was charged for an order.
    pub(crate) async fn charged(&self, runner: &str, order: &str) -> Result<Option<Charge>, sqlx::Error> {
        let charged = sqlx::query_as(r#"SELECT id, cents FROM charge WHERE runner = ?1 AND "order" = ?2"#);
        let row: Option<(i64, u32)> = charged.bind(runner).bind(order).fetch_optional(&self.0).await?;
        Ok(row.map(|(id, cents)| Charge { id, order: order.into(), cents }))
    }

    pub(crate) async fn deliver(&self, email: &str, code: &str) -> Result<(), sqlx::Error> {
        let deliver = sqlx::query("INSERT INTO mail (email, code) VALUES (?1, ?2)");
        deliver.bind(email).bind(code).execute(&self.0).await?;
        Ok(())
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
    for (key, name, tier) in callers::DEMO {
        let app = sqlx::query("INSERT INTO app (key_hash, name, tier) VALUES (?1, ?2, ?3)");
        app.bind(callers::hash(key)).bind(name).bind(tier).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    // Kept by the file, and set only in one that was made here: it is read on while somebody writes.
    sqlx::query("PRAGMA journal_mode = WAL").execute(pool).await?;
    Ok(())
}
