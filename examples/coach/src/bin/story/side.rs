//! One side of the comparison: a model that counts, and the instances in front of it.

use std::{future::IntoFuture, io, net::Ipv4Addr, time::Duration};

use anyhow::{Context, Result};
use coach::{Instance, Settings, stand_in};
use futures::future::{join_all, try_join_all};
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::oneshot,
    task::{AbortHandle, JoinHandle},
};

use crate::load::{Asked, Load, Told, now};

/// How many instances share a Redis.
const INSTANCES: usize = 3;

/// How many profiles are changed.
const CHANGES: u32 = 20;

/// What stands between the questions and the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    Cache,
    Nothing,
}

pub(crate) struct Side {
    settings: Settings,
    running: Vec<Running>,
    client: Client,
    model: AbortHandle,
    _scratch: TempDir,
}

struct Running {
    base: String,
    stop: oneshot::Sender<()>,
    served: JoinHandle<io::Result<()>>,
}

/// What one side has answered, and what the model was asked for that.
pub(crate) struct Story {
    pub(crate) told: Vec<Told>,
    pub(crate) model: Figures,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Figures {
    pub(crate) calls: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
}

impl Side {
    pub(crate) async fn start(takes: Duration, redis: Option<String>, between: Between) -> Result<Self> {
        let scratch = tempfile::tempdir().context("cannot make a folder for the database")?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let model_url = format!("http://{}", listener.local_addr()?);
        let model = tokio::spawn(axum::serve(listener, stand_in::router(takes)).into_future()).abort_handle();
        let settings = Settings {
            database: scratch.path().join("coach.sqlite"),
            redis,
            // Roomy: this is not about a Redis that fails.
            redis_budget: Duration::from_secs(2),
            model_url,
            model_key: None,
            model_name: "stand-in".into(),
            fresh_for: Duration::from_secs(3600),
            without_cache: between == Between::Nothing,
        };
        let client = Client::builder().no_proxy().build()?;
        let mut side = Self { settings, running: Vec::new(), client, model, _scratch: scratch };
        side.open().await?;
        Ok(side)
    }

    /// How many instances there are.
    pub(crate) fn size(&self) -> usize {
        if self.settings.redis.is_some() { INSTANCES } else { 1 }
    }

    pub(crate) async fn story(&self, load: Load) -> Result<Story> {
        let told = load.run(&self.client, &self.bases()).await?;
        Ok(Story { told, model: self.figures().await? })
    }

    /// How often the model is asked when all instances were ended and started again, and then are asked all that they were
    /// asked before; and how many questions that are. Without a Redis they have forgotten all.
    pub(crate) async fn restart(&mut self, load: Load) -> Result<(u64, usize)> {
        let ending = self.running.drain(..).map(|Running { stop, served, .. }| {
            drop(stop);
            served
        });
        for ended in join_all(ending).await {
            ended??;
        }
        self.open().await?;
        let (before, asked) = (self.figures().await?.calls, load.different());
        for (rank, base) in asked.iter().zip(self.bases().iter().cycle()) {
            Asked::at(*rank).ask(&self.client, base, now()).await?;
        }
        Ok((self.figures().await?.calls - before, asked.len()))
    }

    /// Changes profiles, each through the next instance, and has all of them asked right after. Returns how many answers
    /// were about the new one, and of how many.
    pub(crate) async fn changes(&self) -> Result<(usize, usize)> {
        let (bases, asked) = (self.bases(), Asked::at(0));
        let (mut new, mut all) = (0, 0);
        for (n, base) in (0..CHANGES).zip(bases.iter().cycle()) {
            let vo2max = f64::from(4_050 + n) / 100.0;
            let profile: Value = json!({ "vo2max": vo2max, "lt_pace": 255 });
            let call = self.client.put(format!("{base}/profile")).header("x-api-key", "demo-partner");
            call.header("x-user", &asked.runner).json(&profile).send().await?.error_for_status()?;
            let asks = bases.iter().map(|base| asked.ask(&self.client, base, now()));
            for told in try_join_all(asks).await? {
                all += 1;
                new += usize::from(told.answer.contains(&format!("VO2max of {vo2max} ")));
            }
        }
        Ok((new, all))
    }

    async fn open(&mut self) -> Result<()> {
        for _ in 0..self.size() {
            let instance = Instance::open(self.settings.clone()).await?;
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let base = format!("http://{}", listener.local_addr()?);
            let (stop, stopped) = oneshot::channel::<()>();
            // Nobody sends: the end of the channel is the signal.
            let served = tokio::spawn(instance.serve(listener, async { drop(stopped.await) }));
            self.running.push(Running { base, stop, served });
        }
        Ok(())
    }

    fn bases(&self) -> Vec<String> {
        self.running.iter().map(|running| running.base.clone()).collect()
    }

    async fn figures(&self) -> Result<Figures> {
        let url = format!("{}/figures", self.settings.model_url);
        Ok(self.client.get(url).send().await?.json().await?)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.model.abort();
    }
}
