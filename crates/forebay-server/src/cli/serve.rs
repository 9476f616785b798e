//! `forebay serve`: from the settings to the last answer.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    time::Duration,
};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::{net::TcpListener, runtime::Runtime, time::timeout};
use tracing_subscriber::EnvFilter;

use super::{Failure, announce::announce, signals::Signals};
use crate::{
    app::{App, Shared},
    config::{Config, Flags},
    connections,
    reload::Reload,
    router::router,
};

/// What the library takes beyond its budget, in which it says what it could not do.
const CLOSING: Duration = Duration::from_millis(300);

/// Runs the server until it is told to stop.
pub(super) fn run(flags: Flags) -> Result<(), Failure> {
    let config = Config::load(flags.clone())?;
    start_log()?;
    raise_file_limit();
    let runtime = Runtime::new().map_err(|error| Failure::Start(format!("cannot start threads: {error}")))?;
    let outcome = runtime.block_on(serve(&config, flags));
    // Connections that clients still hold open after the budget end with the process; nobody waits for them.
    runtime.shutdown_background();
    outcome
}

async fn serve(config: &Config, flags: Flags) -> Result<(), Failure> {
    let mut signals =
        Signals::new().map_err(|error| Failure::Start(format!("cannot hear signals: {error}")))?;
    let app = App::start(config).await?;
    let (listener, address) = bind(config).await?;
    announce(&address, config);
    let mut reload = Reload::new(flags, config);
    let stop = async {
        let signal = signals.end(async || reload.again(&app.limits).await).await;
        tracing::info!(signal, "shutting down; a second signal ends at once");
        app.draining.cancel();
    };
    let open = connections::serve(listener, router(app.clone()), stop).await;
    tokio::select! {
        () = shut_down(open.shutdown(), &app, config.server.shutdown_budget()) => Ok(()),
        signal = signals.end(async || {}) => Err(Failure::Start(format!("ended by a second {signal}"))),
    }
}

/// Ends within `budget`: most of it is for the requests that run, the rest for the library.
async fn shut_down(requests: impl Future<Output = ()>, app: &Shared, budget: Duration) {
    let for_library = budget / 4;
    if timeout(budget - for_library, requests).await.is_err() {
        tracing::warn!("requests are cut off, as the shutdown budget ends");
    }
    if timeout(for_library, app.forebay.shutdown(for_library.saturating_sub(CLOSING))).await.is_err() {
        tracing::warn!("the store is left as it is, as the shutdown budget ends");
    }
}

async fn bind(config: &Config) -> Result<(TcpListener, SocketAddr), Failure> {
    let refuse = |error: io::Error| {
        let addresses: Vec<_> = config.listen.iter().map(ToString::to_string).collect();
        let remedy = "choose another address with --listen, FOREBAY_LISTEN or `listen` in the file";
        Failure::Start(format!("cannot listen on {}: {error}; {remedy}", addresses.join(" or ")))
    };
    let listener = TcpListener::bind(config.listen.as_slice()).await.map_err(refuse)?;
    let address = listener.local_addr().map_err(refuse)?;
    Ok((listener, address))
}

fn start_log() -> Result<(), Failure> {
    let filter = match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .map_err(|error| Failure::Config(format!("RUST_LOG is `{directives}`: {error}; try `info`")))?,
        _ => EnvFilter::new("info"),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    Ok(())
}

/// Every waiting client is an open file, and Debian's soft limit is 1,024.
fn raise_file_limit() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}
