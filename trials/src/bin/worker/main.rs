//! A process with a Forebay of its own that obeys orders: one JSON on each line of its input, answered by one on its
//! output, in whichever order they are done.

mod desk;
mod far;
mod holder;
mod moka;
mod naive;
mod origin;
mod shop;

use std::{
    io::{Write, stdin, stdout},
    thread,
};

use anyhow::{Context, Result};
use forebay_trials::order::{Answer, Numbered, Order};
use tokio::sync::mpsc;
use tracing_subscriber::EnvFilter;

use crate::desk::Desk;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    let filter = EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let setup = std::env::args().nth(1).context("the one argument is a setup as JSON")?;
    let desk = Desk::open(serde_json::from_str(&setup)?).await?;
    say(0, desk.once_ready().await?)?;
    let mut orders = orders();
    while let Some(Numbered { number, what: order }) = orders.recv().await {
        let desk = desk.clone();
        tokio::spawn(async move {
            let answer = desk.obey(order).await;
            say(number, answer).expect("whoever gave the order reads the answer");
        });
    }
    desk.close().await
}

/// Reads until the input ends, as it does when whoever gives orders has gone.
fn orders() -> mpsc::Receiver<Numbered<Order>> {
    let (sender, orders) = mpsc::channel(1_000);
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            let order = serde_json::from_str(&line).expect("an order is JSON");
            if sender.blocking_send(order).is_err() {
                return;
            }
        }
    });
    orders
}

fn say(number: u64, answer: Answer) -> Result<()> {
    let mut line = serde_json::to_vec(&Numbered { number, what: answer })?;
    line.push(b'\n');
    let mut out = stdout().lock();
    out.write_all(&line)?;
    Ok(out.flush()?)
}
