//! The stand-in for a language model, as a program of its own that several instances ask.

use std::{
    io::{self, Write},
    net::SocketAddr,
    time::Duration,
};

use anyhow::{Context, Result};
use clap::Parser;
use coach::stand_in;
use tokio::net::TcpListener;

/// A stand-in for a language model behind /v1/chat/completions.
///
/// GET /figures tells what it was asked; POST /fail?seconds=60 has it fail for a minute.
#[derive(Parser)]
#[command(version)]
struct Flags {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7370")]
    listen: SocketAddr,
    /// How long it takes for an answer, in ms.
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    takes: u64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let Flags { listen, takes } = Flags::parse();
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}; choose another address with --listen"))?;
    let told = format!("coach-model listens on http://{}\n", listener.local_addr()?);
    // Whoever closed the output does not want to read it.
    io::stdout().write_all(told.as_bytes()).ok();
    Ok(axum::serve(listener, stand_in::router(Duration::from_millis(takes))).await?)
}
