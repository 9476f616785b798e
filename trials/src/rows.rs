//! A SQLite file that several processes share, and the rows in it that have versions.

use std::{path::Path, time::Duration};

use sqlx::{
    ConnectOptions, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS thing (id TEXT PRIMARY KEY, version INTEGER NOT NULL)";
const READ: &str = "SELECT coalesce((SELECT version FROM thing WHERE id = ?1), 0)";
const RAISE: &str =
    "INSERT INTO thing VALUES (?1, 1) ON CONFLICT DO UPDATE SET version = version + 1 RETURNING version";

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

/// Opens the rows in the file at `path`.
///
/// # Errors
///
/// They cannot be opened.
pub async fn open_things(path: &Path) -> sqlx::Result<SqlitePool> {
    let rows = open(path).await?;
    sqlx::query(TABLE).execute(&rows).await?;
    Ok(rows)
}

/// The version of a row, from 0 on.
///
/// # Panics
///
/// If SQLite does not answer.
pub async fn read(rows: &SqlitePool, id: &str) -> u64 {
    version(rows, READ, id).await
}

/// Gives a row its next version.
///
/// # Panics
///
/// If SQLite does not answer.
pub async fn raise(rows: &SqlitePool, id: &str) -> u64 {
    version(rows, RAISE, id).await
}

async fn version(rows: &SqlitePool, query: &'static str, id: &str) -> u64 {
    let version: (i64,) = sqlx::query_as(query).bind(id).fetch_one(rows).await.expect("SQLite answers");
    version.0.try_into().expect("versions count up from 0")
}

/// Serves the rows to programs of any language: each line `read ID` or `raise ID` is answered by one with a version.
pub async fn serve(listener: TcpListener, rows: SqlitePool) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(answer(client, rows.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(client: TcpStream, rows: SqlitePool) {
    let (questions, mut answers) = client.into_split();
    let mut lines = BufReader::new(questions).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let version = match line.split_once(' ') {
            Some(("read", id)) => read(&rows, id).await,
            Some(("raise", id)) => raise(&rows, id).await,
            _ => return,
        };
        if answers.write_all(format!("{version}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}
