//! A product catalog over SQLite whose slow query is read through Forebay: `catalog.rs` is all that takes.

mod catalog;
mod database;
mod problem;
mod routes;
mod timing;

use std::{
    env,
    io::{self, IsTerminal, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use clap::Parser;
use forebay::Forebay;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::oneshot,
    time::sleep,
};

use crate::{catalog::Catalog, database::Database};

/// How long running requests and loads may take to end once the program is asked to stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// A product catalog over a SQLite file that it makes itself, read through Forebay
#[derive(Parser)]
#[command(version)]
struct Flags {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7341")]
    listen: SocketAddr,
    /// The SQLite file, made if it is missing [default: forebay-catalog.sqlite in the directory for temporary files].
    #[arg(long, value_name = "PATH")]
    database: Option<PathBuf>,
    /// Redis to share the cache through, such as redis://127.0.0.1:6379 [default: none, this process caches alone].
    #[arg(long, value_name = "URL", env = "FOREBAY_REDIS_URL", hide_env_values = true)]
    redis: Option<String>,
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
    let path = flags.database.unwrap_or_else(|| env::temp_dir().join("forebay-catalog.sqlite"));
    let database = Database::open(&path).await.with_context(|| {
        format!("cannot use {} as the catalog; choose another file with --database", path.display())
    })?;
    // What is empty counts as not given, as in a compose file.
    let redis = flags.redis.filter(|url| !url.is_empty());
    let kept = if redis.is_some() { "Redis" } else { "this process" };
    let forebay = open(redis).await?;
    let catalog = Catalog::new(&forebay, database.clone())?;

    announce(listener.local_addr()?, &path, kept);
    serve(listener, catalog, stop_signal()?).await?;
    forebay.shutdown(PATIENCE).await;
    database.close().await;
    Ok(())
}

/// Opens Forebay over the Redis at `url`, or over process memory alone. Redis need not be up.
async fn open(url: Option<String>) -> Result<Forebay> {
    let mut builder = Forebay::builder("shop");
    if let Some(url) = url {
        builder = builder.redis(url);
    }
    builder.build().await.context("cannot use the URL that --redis or FOREBAY_REDIS_URL gives")
}

async fn serve(listener: TcpListener, catalog: Catalog, stop: impl Future<Output = ()>) -> io::Result<()> {
    let (stopping, stopped) = oneshot::channel::<()>();
    // Nobody sends: the end of the channel is the signal.
    let stopped = async { drop(stopped.await) };
    let served = axum::serve(listener, routes::router(catalog)).with_graceful_shutdown(stopped);
    let overdue = async {
        stop.await;
        drop(stopping);
        sleep(PATIENCE).await;
    };
    tokio::select! {
        ended = served => ended,
        () = overdue => {
            tracing::warn!("requests are cut off, as they took too long to end");
            Ok(())
        }
    }
}

/// Completes at the first SIGINT or SIGTERM from here on.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

fn announce(address: SocketAddr, database: &Path, kept: &str) {
    let base = format!("http://{address}");
    let text = format!(
        r#"catalog listens on {base}
Its products are in {}, what was read of them in {kept}.
Read one twice, change its price, see how often the database was asked:
  curl -i {base}/products/17
  curl -X PUT --data '{{"price_cents": 1999}}' {base}/products/17/price
  curl {base}/stats
"#,
        database.display()
    );
    // Whoever closed the output does not want to read it.
    io::stdout().write_all(text.as_bytes()).ok();
}
