//! What has really happened, as the database says beside the programs.

use std::path::PathBuf;

use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;

/// Which payments were carried out, each as often as it was.
pub(crate) const CARRIED_OUT: &str = "SELECT count(*) FROM bank";

/// How many of them were so once more.
pub(crate) const AGAIN: &str = r#"SELECT count(*) - count(DISTINCT runner || ' ' || "order") FROM bank"#;

pub(crate) struct Records(TempDir);

impl Records {
    pub(crate) fn none() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("coach.sqlite")
    }

    /// The one figure that a query brings.
    pub(crate) async fn count(&self, query: &'static str) -> i64 {
        let mut connection = self.connect().await;
        let (count,) = sqlx::query_as(query).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        count
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
