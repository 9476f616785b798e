//! An API with keys of three tiers and a sign-in, limited through Forebay: `limits.rs` is all that takes.

mod keys;
mod limits;
mod load;
mod problem;
mod routes;

use std::{
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use axum::Router;
use clap::{Parser, Subcommand};
use forebay::{Forebay, status::Status};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use crate::limits::Limits;

/// How long what is still to be told to Redis may take once the program ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// An API whose callers are limited by the tier of their key, and sign-ins by address.
///
/// Counts are kept in this process, or in the Redis of FOREBAY_REDIS_URL, such as redis://127.0.0.1:6379.
#[derive(Parser)]
#[command(version)]
struct Flags {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7351, or a free port for a load].
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Networks of the proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8,127.0.0.1 [default: none].
    #[arg(long, value_name = "NETWORKS", env = "TRUSTED_PROXIES", value_delimiter = ',')]
    trusted_proxies: Vec<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Sends a small load to itself, prints what was admitted and refused, and ends
    Load,
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    match run(Flags::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> Result<()> {
    let port = if flags.command.is_some() { 0 } else { 7351 };
    let listen = flags.listen.unwrap_or((Ipv4Addr::LOCALHOST, port).into());
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}; choose another address with --listen"))?;
    let address = listener.local_addr()?;

    let forebay = Forebay::from_env("api-limits").build().await.context("cannot use FOREBAY_REDIS_URL")?;
    // What is empty counts as not given, as in a compose file.
    let proxies: Vec<_> = flags.trusted_proxies.into_iter().filter(|network| !network.is_empty()).collect();
    let limits =
        Limits::new(&forebay, &proxies).context("cannot use --trusted-proxies or TRUSTED_PROXIES")?;
    let serving = serve(listener, routes::router(limits));
    match flags.command {
        None => {
            announce(address, &forebay.status());
            serving.await?;
        }
        Some(Command::Load) => {
            let told = tokio::select! {
                told = load::run(address) => told?,
                ended = serving => {
                    ended?;
                    bail!("it was stopped in the middle of its load")
                }
            };
            print(&told);
        }
    }
    forebay.shutdown(PATIENCE).await;
    Ok(())
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
    print(&format!(
        "api-limits listens on {base}
Its counts are kept in {kept}. See what is left in the headers; the sixth sign-in is refused:
  curl -i -H 'X-Api-Key: demo-basic' {base}/quote
  curl -i -H 'Authorization: Bearer demo-pro' {base}/report
  for n in 1 2 3 4 5 6; do curl -i -d 'user=ada&password=guess' {base}/sign-in; done
"
    ));
}

fn print(text: &str) {
    // Whoever closed the output does not want to read it.
    io::stdout().write_all(text.as_bytes()).ok();
}
