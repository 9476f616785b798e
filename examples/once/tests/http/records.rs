//! What has really happened, as the database says beside the program.

use std::{path::PathBuf, time::Duration};

use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

pub(crate) struct Records(TempDir);

impl Records {
    pub(crate) fn none() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("once.sqlite")
    }

    /// How many rows a table has.
    pub(crate) async fn count(&self, table: &'static str) -> i64 {
        let count = match table {
            "charge" => "SELECT count(*) FROM charge",
            "mail" => "SELECT count(*) FROM mail",
            other => panic!("no table {other}"),
        };
        let mut connection = self.connect().await;
        let (count,) = sqlx::query_as(count).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        count
    }

    /// Waits until there is a charge.
    pub(crate) async fn are_charged(&self) {
        let charged = async {
            while self.count("charge").await == 0 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(20), charged).await.unwrap();
    }

    /// Changes something, as another program would.
    pub(crate) async fn change(&self, sql: &'static str) {
        let mut connection = self.connect().await;
        sqlx::query(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    async fn connect(&self) -> SqliteConnection {
        SqliteConnection::connect(&format!("sqlite:{}", self.path().display())).await.unwrap()
    }
}
