//! `forebay serve`: from the settings to the last answer.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    time::Duration,
};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::{net::TcpListener, runtime::Runtime, time::timeout};
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use super::{Failure, Verdict, announce::announce, signals::ServerSignals};
use crate::{
    app::{App, Shared},
    config::{Config, Flags},
    connections, dashboard, monitor,
    otlp::Otlp,
    reload::Reload,
    router::router,
};

/// What the library takes beyond its budget, in which it says what it could not do.
const CLOSING: Duration = Duration::from_millis(300);

/// How another address is chosen.
const ADDRESSES: &str = "choose another address with --listen, FOREBAY_LISTEN or `listen` in the file";

/// Runs the server until it is told to stop.
pub(super) fn run(flags: Flags) -> Result<Verdict, Failure> {
    let config = Config::load(flags.clone())?;
    let otlp = Otlp::from_env().map_err(Failure::Usage)?;
    start_log(otlp.as_ref())?;
    raise_file_limit();
    let runtime =
        Runtime::new().map_err(|error| Failure::Undone(format!("cannot start threads: {error}")))?;
    let outcome = runtime.block_on(serve(&config, flags, otlp.clone()));
    // Connections that clients still hold open after the budget end with the process; nobody waits for them.
    runtime.shutdown_background();
    if let Some(otlp) = otlp {
        otlp.end();
    }
    outcome.map(|()| Verdict::Well)
}

async fn serve(config: &Config, flags: Flags, otlp: Option<Otlp>) -> Result<(), Failure> {
    let mut signals =
        ServerSignals::new().map_err(|error| Failure::Undone(format!("cannot hear signals: {error}")))?;
    let app = App::start(config).await?;
    let (listener, address) = bind(config, ADDRESSES).await?;
    look_after(&app);
    if let Some(otlp) = otlp {
        tokio::spawn(otlp.tell(app.clone()));
    }
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
        signal = signals.end(async || {}) => Err(Failure::Undone(format!("ended by a second {signal}"))),
    }
}

/// Begins what a server does while nobody asks it for anything.
pub(super) fn look_after(app: &Shared) {
    tokio::spawn(monitor::watch(app.clone()));
    tokio::spawn(dashboard::sample(app.clone()));
    tokio::spawn(dashboard::count(app.clone()));
    tokio::spawn(dashboard::monitored(app.clone()));
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

/// Listens where the settings say; `remedy` says how to choose another place.
pub(super) async fn bind(config: &Config, remedy: &str) -> Result<(TcpListener, SocketAddr), Failure> {
    let refuse = |error: io::Error| {
        let addresses: Vec<_> = config.listen.iter().map(ToString::to_string).collect();
        Failure::Undone(format!("cannot listen on {}: {error}; {remedy}", addresses.join(" or ")))
    };
    let listener = TcpListener::bind(config.listen.as_slice()).await.map_err(refuse)?;
    let address = listener.local_addr().map_err(refuse)?;
    Ok((listener, address))
}

/// What is logged, as the environment says.
pub(super) fn filter() -> Result<EnvFilter, Failure> {
    match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .map_err(|error| Failure::Usage(format!("RUST_LOG is `{directives}`: {error}; try `info`"))),
        _ => Ok(EnvFilter::new("info")),
    }
}

fn start_log(otlp: Option<&Otlp>) -> Result<(), Failure> {
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    tracing_subscriber::registry().with(filter()?).with(lines).with(otlp.map(Otlp::layer)).init();
    Ok(())
}

/// Every waiting client is an open file, and Debian's soft limit is 1,024.
pub(super) fn raise_file_limit() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}
