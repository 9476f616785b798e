//! A process of a trial whose cache is hitbox: one JSON on each line of its input, answered by one on its output.

mod desk;
mod order;
mod source;

use std::{
    io::{Write, stdout},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use hitbox::{backend::CacheBackend, offload::OffloadManager};
use hitbox_backend::composition::Compose;
use hitbox_moka::MokaBackend;
use hitbox_redis::{ConnectionMode, RedisBackend};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

use crate::{
    desk::Desk,
    order::{Answer, Numbered, Order, Report, Setup},
};

/// How many values fit in process memory.
const ROOM: u64 = 100_000;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    let setup = std::env::args().nth(1).context("the one argument is a setup as JSON")?;
    let setup = serde_json::from_str(&setup)?;
    let shared = shared(&setup)?;
    if setup.local_ms == Some(0) {
        return serve(Desk::new(shared, &setup)).await;
    }
    let near = MokaBackend::builder().max_entries(ROOM).build();
    serve(Desk::new(near.compose(shared, OffloadManager::with_defaults()), &setup)).await
}

fn shared(setup: &Setup) -> Result<RedisBackend> {
    let budget = Duration::from_millis(setup.budget_ms);
    let redis = RedisBackend::builder().connection(ConnectionMode::single(&setup.redis));
    Ok(redis.connection_timeout(budget).response_timeout(budget).build()?)
}

/// Obeys until the input ends, as it does when whoever gives orders has gone.
async fn serve<B: CacheBackend + Send + Sync + 'static>(desk: Desk<B>) -> Result<()> {
    say(0, Answer::Report(Report::now()))?;
    let (desk, mut orders) = (Arc::new(desk), BufReader::new(stdin()).lines());
    while let Some(line) = orders.next_line().await? {
        let Numbered { number, what: order } = serde_json::from_str::<Numbered<Order>>(&line)?;
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            let answer = desk.obey(order).await;
            say(number, answer).expect("whoever gave the order reads the answer");
        });
    }
    Ok(())
}

fn say(number: u64, answer: Answer) -> Result<()> {
    let mut line = serde_json::to_vec(&Numbered { number, what: answer })?;
    line.push(b'\n');
    let mut out = stdout().lock();
    out.write_all(&line)?;
    Ok(out.flush()?)
}
