//! The story of a cache in front of a language model: the same questions, asked with it and without.

mod load;
mod side;
mod table;

use std::{process::ExitCode, time::Duration};

use anyhow::Result;
use clap::{Parser, value_parser};

use crate::{
    load::Load,
    side::{Between, Side},
    table::Price,
};

/// Puts the same questions to the coach twice, without a cache of answers and with it, and prints what that took as a table.
#[derive(Debug, Parser)]
#[command(version)]
struct Flags {
    /// An empty Redis for all instances, such as redis://127.0.0.1:6379 [default: none, and so one instance].
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// How many questions are asked.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, value_parser = value_parser!(u32).range(1..=1_000_000))]
    questions: u32,
    /// How many of them in a second, whatever the answers take.
    #[arg(long, value_name = "COUNT", default_value_t = 80, value_parser = value_parser!(u32).range(1..=10_000))]
    per_second: u32,
    /// How long the model takes for an answer, in ms.
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = value_parser!(u64).range(..=20_000))]
    model_takes: u64,
    /// What a million tokens cost that the model is told, in dollars.
    #[arg(long, value_name = "DOLLARS", default_value_t = 2.5, value_parser = dollars)]
    price_in: f64,
    /// What a million tokens cost that it says, in dollars.
    #[arg(long, value_name = "DOLLARS", default_value_t = 10.0, value_parser = dollars)]
    price_out: f64,
}

fn dollars(text: &str) -> Result<f64, String> {
    let price = text.parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0);
    price.ok_or_else(|| "a price is a number, and 0 at least".to_owned())
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Flags::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> Result<()> {
    let load = Load { questions: flags.questions, per_second: flags.per_second };
    let takes = Duration::from_millis(flags.model_takes);
    let price = Price { told: flags.price_in, said: flags.price_out };

    let without = Side::start(takes, flags.redis.clone(), Between::Nothing).await?.story(load).await?;
    let mut with = Side::start(takes, flags.redis, Between::Cache).await?;
    let instances = with.size();
    let answered = with.story(load).await?;
    print!("{}", table::compare(load, instances, price, &without, &answered));
    // One alone has forgotten all that it knew.
    if instances > 1 {
        print!("{}", table::afterwards(with.restart(load).await?, with.changes().await?));
    }
    Ok(())
}
