//! A service whose retries, double clicks and second instances do no harm, through Forebay.

mod codes;
mod database;
mod keys;
mod outside;
mod payments;
mod plans;
mod problem;
mod routes;
mod visitors;

use std::{
    env,
    io::{self, IsTerminal, Write},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use axum::Router;
use clap::Parser;
use forebay::{Forebay, status::Status};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use crate::{
    database::Database,
    outside::{Bank, Model, Post},
};

/// How long Redis may take for an answer: without one nothing can be done here, so it is worth waiting for.
const BUDGET: Duration = Duration::from_millis(500);

/// How long what is still to be told to Redis may take once the program ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// Payments that are charged once, codes with a cooldown and plans under a lock.
///
/// What has happened is kept in this process, or in the Redis of FOREBAY_REDIS_URL, such as redis://127.0.0.1:6379.
#[derive(Parser)]
#[command(version)]
struct Flags {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7361")]
    listen: SocketAddr,
    /// The SQLite file, made if it is missing [default: forebay-once.sqlite in the directory for temporary files].
    #[arg(long, value_name = "PATH")]
    database: Option<PathBuf>,
    /// How long the bank takes for a charge, in ms.
    #[arg(long, value_name = "MS", default_value_t = 500)]
    bank_takes: u64,
    /// How long the model takes for a plan, in ms.
    #[arg(long, value_name = "MS", default_value_t = 3000)]
    model_takes: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).init();
    match run(Flags::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> Result<()> {
    let listener = TcpListener::bind(flags.listen).await.with_context(|| {
        format!("cannot listen on {}; choose another address with --listen", flags.listen)
    })?;
    let path = flags.database.clone().unwrap_or_else(|| env::temp_dir().join("forebay-once.sqlite"));
    let database = Database::open(&path)
        .await
        .with_context(|| format!("cannot use {}; choose another file with --database", path.display()))?;
    let forebay = Forebay::from_env("once").redis_budget(BUDGET);
    let forebay = forebay.build().await.context("cannot use FOREBAY_REDIS_URL")?;
    let router = service(&flags, &forebay, &database)?;

    announce(listener.local_addr()?, &forebay.status());
    serve(listener, router).await?;
    forebay.shutdown(PATIENCE).await;
    database.close().await;
    Ok(())
}

fn service(flags: &Flags, forebay: &Forebay, database: &Database) -> Result<Router> {
    let bank = Bank { database: database.clone(), takes: Duration::from_millis(flags.bank_takes) };
    let model = Model { takes: Duration::from_millis(flags.model_takes) };
    let parts = [
        payments::router(forebay, bank, database.clone())?,
        codes::router(forebay.clone(), Post(database.clone())),
        plans::router(forebay.clone(), model, database.clone()),
    ];
    routes::router(forebay, parts)
}

/// Serves until SIGINT or SIGTERM.
async fn serve(listener: TcpListener, router: Router) -> Result<()> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stop = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    // So that the layers see the other end of each connection.
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).with_graceful_shutdown(stop).await?)
}

fn announce(address: SocketAddr, status: &Status) {
    let base = format!("http://{address}");
    let kept = if matches!(status, Status::Memory) { "this process" } else { "Redis" };
    let text = format!(
        r#"once listens on {base}
What has happened is kept in {kept}. Pay twice with one key, ask for two codes, have two plans drawn at once:
  curl -i -H 'Authorization: Bearer demo-ada' -H 'Idempotency-Key: "7"' -d '{{"order": "7", "cents": 1200}}' {base}/payments
  curl -i -d '{{"email": "ada@example.org"}}' {base}/codes
  curl -i -X PUT -d '{{"goal": "learn to swim"}}' {base}/plans/42
"#
    );
    // Whoever closed the output does not want to read it.
    io::stdout().write_all(text.as_bytes()).ok();
}
