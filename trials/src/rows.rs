//! A SQLite file that several processes share.

use std::{path::Path, time::Duration};

use sqlx::{
    ConnectOptions, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

/// Opens the file at `path`, or creates it.
///
/// # Errors
///
/// It cannot be opened.
pub async fn open(path: &Path) -> sqlx::Result<SqlitePool> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        // A trial does not outlive the machine.
        .synchronous(SqliteSynchronous::Off)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::from_secs(30))
        .disable_statement_logging();
    SqlitePoolOptions::new().max_connections(4).connect_with(options).await
}
