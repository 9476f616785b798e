//! One instance of the coach, with nothing to set up.

use std::{
    future::{Future, IntoFuture},
    io::{self, IsTerminal, Write},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use clap::Parser;
use coach::{Instance, Settings, stand_in};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

/// A running coach whose answers come from a language model.
///
/// Without any settings it keeps what it knows in its own memory, and its runners in a file that is gone with it; its
/// model only stands in for one.
#[derive(Parser)]
#[command(version)]
struct Flags {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7371")]
    listen: SocketAddr,
    /// The SQLite file, made if it is missing; instances share one [default: one of its own].
    #[arg(long, value_name = "PATH")]
    database: Option<PathBuf>,
    /// Redis for all instances, such as redis://127.0.0.1:6379 [default: none, this one works alone].
    #[arg(long, value_name = "URL", env = "FOREBAY_REDIS_URL", hide_env_values = true)]
    redis: Option<String>,
    /// How long all that one request asks of Redis may take, in ms.
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    redis_budget: u64,
    /// What stands in front of /v1/chat/completions, such as http://127.0.0.1:11434 [default: a model of its own].
    #[arg(long, value_name = "URL", env = "MODEL_URL")]
    model_url: Option<String>,
    /// The API key of the model.
    #[arg(long, value_name = "KEY", env = "MODEL_KEY", hide_env_values = true)]
    model_key: Option<String>,
    /// Which model to ask.
    #[arg(long, value_name = "NAME", env = "MODEL_NAME", default_value = "stand-in")]
    model_name: String,
    /// How long the model of its own takes for an answer, in ms.
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    model_takes: u64,
    /// How long an answer is as good as new, in s. For a day longer it is given when the model fails.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..))]
    fresh_for: u64,
    /// Ask the model each time, to see what that costs.
    #[arg(long)]
    without_cache: bool,
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
    let address = listener.local_addr()?;
    // Ends with the program.
    let scratch = tempfile::tempdir().context("cannot make a folder for the database")?;
    let model_url = match flags.model_url.clone().filter(|url| !url.is_empty()) {
        Some(url) => url,
        None => own_model(Duration::from_millis(flags.model_takes)).await?,
    };
    let settings = flags.settings(model_url, scratch.path().join("coach.sqlite"));
    let instance = Instance::open(settings.clone()).await?;
    announce(address, &settings);
    Ok(instance.serve(listener, stop_signal()?).await?)
}

impl Flags {
    fn settings(self, model_url: String, database: PathBuf) -> Settings {
        Settings {
            database: self.database.unwrap_or(database),
            // What is empty counts as not given, as in a compose file.
            redis: self.redis.filter(|url| !url.is_empty()),
            redis_budget: Duration::from_millis(self.redis_budget),
            model_url,
            model_key: self.model_key.filter(|key| !key.is_empty()),
            model_name: self.model_name,
            fresh_for: Duration::from_secs(self.fresh_for),
            without_cache: self.without_cache,
        }
    }
}

/// Starts a stand-in for a model within this program, and returns where it listens.
async fn own_model(takes: Duration) -> Result<String> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port is free for the model")?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, stand_in::router(takes)).into_future());
    Ok(url)
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

fn announce(address: SocketAddr, settings: &Settings) {
    let base = format!("http://{address}");
    let kept = if settings.redis.is_some() { "Redis" } else { "this process" };
    let text = format!(
        r#"coach listens on {base}
What it knows is kept in {kept}; its model is at {}. Ask something twice:
  curl -i -H 'X-Api-Key: demo-free' -H 'X-User: runner-7' -d '{{"question": "How fast should my long run be?"}}' {base}/ask
"#,
        settings.model_url
    );
    // Whoever closed the output does not want to read it.
    io::stdout().write_all(text.as_bytes()).ok();
}
