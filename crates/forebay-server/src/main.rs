//! The `forebay` binary: Forebay over HTTP, for applications in any language.

mod api;
mod app;
mod cli;
mod config;
mod connections;
mod content;
mod counters;
mod dashboard;
mod error;
mod extract;
mod limits;
mod metrics;
mod middleware;
mod monitor;
mod openapi;
#[cfg_attr(not(feature = "otlp"), path = "otlp_absent.rs")]
mod otlp;
mod record;
mod registry;
mod reload;
mod router;
mod spaces;
mod topics;

fn main() -> std::process::ExitCode {
    cli::main()
}
