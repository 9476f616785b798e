//! `forebay demo`: a server, a slow origin, callers, and what happens to them, in one process.

mod end;
mod figures;
mod load;
mod redis;
mod rest;
mod scenes;
mod screen;

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use forebay::status::Status;
use tokio::{runtime::Runtime, time::timeout};

use self::{load::Shop, redis::OwnRedis, scenes::Director, screen::Screen};
use super::{
    Failure, Verdict,
    client::Reach,
    origin::Origin,
    output::Output,
    serve::{bind, look_after, raise_file_limit},
    signals::Signals,
};
use crate::{
    app::{App, Shared},
    config::{Config, Flags, Store},
    connections,
    router::router,
};

/// What a call of the origin takes: a query that is slow, and not absurd.
const ORIGIN: Duration = Duration::from_millis(300);

/// How long the server may take to use its Redis, and to close.
const OPENING: Duration = Duration::from_secs(2);
const CLOSING: Duration = Duration::from_millis(500);

/// Shows what Forebay is for: a server, a slow origin and many callers, with an outage of Redis on the way
///
/// Everything runs in this process, on this machine only, and ends with it. A `redis-server` or `valkey-server` of its own
/// is started where there is one on the machine; no other is touched.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// How long it takes, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..=3_600))]
    seconds: u64,

    /// The port of the server on 127.0.0.1; 0 is any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,

    #[command(flatten)]
    output: Output,
}

impl Demo {
    pub(super) fn run(&self) -> Result<Verdict, Failure> {
        raise_file_limit();
        let runtime =
            Runtime::new().map_err(|error| Failure::Undone(format!("cannot start threads: {error}")))?;
        // On this thread: what is started on a leash ends with the thread that has started it.
        let outcome = runtime.block_on(self.play());
        runtime.shutdown_background();
        outcome.map(|()| Verdict::Well)
    }

    async fn play(&self) -> Result<(), Failure> {
        let cannot_hear = |error| Failure::Undone(format!("cannot hear signals: {error}"));
        let mut signals = Signals::new().map_err(cannot_hear)?;
        let redis = if is_kept_in_memory() { None } else { OwnRedis::start().await };
        let stage = Stage::open(self.port, redis.as_ref()).await?;
        let shop = Shop::new(Reach::here(stage.address).client()?, Origin::new(ORIGIN));
        let mut screen = Screen::new(self.output, self.seconds);
        screen.opening(stage.address, redis.as_ref())?;
        let played = {
            let seconds = self.seconds;
            let director = Director { shop: &shop, redis, screen: &mut screen, seconds, crowds: 0 };
            tokio::select! {
                played = director.play() => played,
                () = shop.run() => Ok(()),
                () = rest::run(shop.client()) => Ok(()),
                _ = signals.end() => Ok(()),
            }
        };
        stage.close().await;
        played?;
        screen.end(&end::Compared::of(&shop))
    }
}

/// Whether the environment keeps every Forebay in memory, as it does in tests.
fn is_kept_in_memory() -> bool {
    std::env::var_os("FOREBAY_STORE").is_some_and(|store| store == "memory")
}

/// The server.
struct Stage {
    app: Shared,
    address: SocketAddr,
}

impl Stage {
    async fn open(port: u16, redis: Option<&OwnRedis>) -> Result<Self, Failure> {
        let config = Config::load(Flags::for_demo(port, redis.map(OwnRedis::url)))?;
        let app = App::start(&config).await?;
        let (listener, address) =
            bind(&config, "choose another port with --port, or none for any that is free").await?;
        look_after(&app);
        let draining = app.draining.clone();
        let stop = async move { draining.cancelled().await };
        tokio::spawn(connections::serve(listener, router(app.clone()), stop));
        if let Store::Redis { .. } = config.store {
            // What is asked before is answered without it.
            timeout(OPENING, uses_redis(&app)).await.ok();
        }
        Ok(Self { app, address })
    }

    async fn close(self) {
        self.app.draining.cancel();
        timeout(CLOSING * 2, self.app.forebay.shutdown(CLOSING)).await.ok();
    }
}

async fn uses_redis(app: &App) {
    while let Status::Redis(redis) = app.forebay.status()
        && !(redis.usable && redis.hears)
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
