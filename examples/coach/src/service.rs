//! One instance: what it is built from, from its start to its end.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use axum::Router;
use forebay::{Forebay, unique::Unique};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::sleep};

use crate::{ask::Answers, model::Model, routes, runners::Runners, store::Store};

/// How long requests that are running, and then what is still to be told to Redis, may take once an instance ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// How an instance is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The SQLite file, made if it is missing.
    pub database: PathBuf,
    /// The Redis that instances share, if there is one.
    pub redis: Option<String>,
    /// How long all that one request asks of Redis may take.
    pub redis_budget: Duration,
    /// What stands in front of `/v1/chat/completions`.
    pub model_url: String,
    /// The key of that endpoint, if it takes one.
    pub model_key: Option<String>,
    /// Which of its models is asked.
    pub model_name: String,
    /// How long an answer is as good as new.
    pub fresh_for: Duration,
    /// Whether the model is asked each time, to see what that costs.
    pub without_cache: bool,
}

/// What all handlers share.
#[derive(Debug, Clone)]
pub(crate) struct Coach {
    pub(crate) forebay: Forebay,
    pub(crate) store: Store,
    pub(crate) model: Model,
    pub(crate) runners: Runners,
    pub(crate) answers: Answers,
    pub(crate) visitors: Unique,
}

/// An instance that was opened.
#[derive(Debug)]
pub struct Instance {
    coach: Coach,
    router: Router,
    /// Looks after the filter of the runners.
    keeper: JoinHandle<()>,
}

impl Instance {
    /// Opens everything that an instance needs. Redis need not be up.
    ///
    /// # Errors
    ///
    /// A file or a setting that cannot be used; the message says which.
    pub async fn open(settings: Settings) -> Result<Self> {
        let coach = Coach::open(settings).await?;
        let router = routes::router(coach.clone())?;
        coach.runners.look_at_filter().await;
        let keeper = tokio::spawn(coach.runners.clone().keep_filter());
        Ok(Self { coach, router, keeper })
    }

    /// Serves until `stop`, and gives what is running then five seconds to end.
    ///
    /// # Errors
    ///
    /// The listener fails.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
        let served = serve(listener, self.router, stop).await;
        self.keeper.abort();
        self.coach.forebay.shutdown(PATIENCE).await;
        self.coach.store.close().await;
        served
    }
}

async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) -> io::Result<()> {
    let (stopping, stopped) = oneshot::channel::<()>();
    // Nobody sends: the end of the channel is the signal.
    let stopped = async { drop(stopped.await) };
    // So that the layers see the other end of each connection.
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let served = axum::serve(listener, service).with_graceful_shutdown(stopped);
    let overdue = async {
        stop.await;
        drop(stopping);
        sleep(PATIENCE).await;
    };
    tokio::select! {
        ended = served => ended,
        () = overdue => {
            tracing::warn!("connections are cut off, as they took too long to end");
            Ok(())
        }
    }
}

impl Coach {
    async fn open(settings: Settings) -> Result<Self> {
        let path = settings.database;
        let store = Store::open(&path)
            .await
            .with_context(|| format!("cannot use {}; choose another file with --database", path.display()))?;
        let forebay = Forebay::builder("coach").redis_budget(settings.redis_budget);
        let forebay = settings.redis.into_iter().fold(forebay, forebay::Builder::redis);
        let forebay = forebay.build().await.context("cannot use the URL of --redis")?;
        let model = Model::new(&settings.model_url, settings.model_key, settings.model_name)?;
        let answers = match settings.without_cache {
            true => Answers::straight(model.clone()),
            false => Answers::cached(&forebay, model.clone(), settings.fresh_for)?,
        };
        let runners = Runners::new(&forebay, store.clone())?;
        let visitors = forebay.unique("runners").build()?;
        Ok(Self { forebay, store, model, runners, answers, visitors })
    }
}
