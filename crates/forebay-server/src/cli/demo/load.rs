//! The callers: many who read what many want, and now and then a crowd that wants one thing at once.

use std::{sync::Arc, time::Duration};

use rand::RngExt;
use tokio::{task::JoinSet, time::sleep};

use super::figures::Figures;
use crate::cli::{
    client::Client,
    leases::{Leased, Target},
    origin::Origin,
    stopwatch::now,
};

/// The space of the demonstration.
pub(super) const SPACE: &str = "demo:products";

/// How many products there are, of which a few are wanted most.
const PRODUCTS: usize = 150;

/// How many read all the time, and how long each thinks in between, on average.
const CALLERS: usize = 48;
const THINKS: Duration = Duration::from_millis(120);

/// How long a product is fresh.
const LIFE_MS: u64 = 15_000;

/// How long a caller waits for somebody else's load.
const WAIT_MS: u64 = 3_000;

/// What became of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The server had it, or was brought it by somebody else meanwhile.
    Served,
    /// This caller has loaded it.
    Loaded,
    Unanswered,
}

/// What became of a crowd.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    pub(super) loads: u64,
    pub(super) unanswered: u64,
    /// Until the last of them was through.
    pub(super) took: Duration,
}

/// Who reads products, and what is counted of that.
#[derive(Debug, Clone)]
pub(super) struct Shop {
    client: Client,
    pub(super) origin: Origin,
    pub(super) figures: Figures,
    /// How often each product is wanted, as sums.
    wanted: Arc<[f64]>,
}

impl Shop {
    pub(super) fn new(client: Client, origin: Origin) -> Self {
        let mut sum = 0.0;
        let weights = (1..=PRODUCTS).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self { client, origin, figures: Figures::new(), wanted: weights.collect() }
    }

    /// How its server is asked.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Reads for ever.
    pub(super) async fn run(&self) {
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let shop = self.clone();
            callers.spawn(async move {
                loop {
                    let thinks = THINKS.mul_f64(rand::rng().random_range(0.0..2.0));
                    sleep(thinks).await;
                    shop.read(&shop.any()).await;
                }
            });
        }
        while callers.join_next().await.is_some() {}
    }

    /// Has `callers` ask for one product at once.
    pub(super) async fn crowd(&self, callers: u64, id: &str) -> Crowd {
        let began = now();
        let mut reads = JoinSet::new();
        for _ in 0..callers {
            let (shop, id) = (self.clone(), id.to_owned());
            reads.spawn(async move { shop.read(&id).await });
        }
        let mut crowd = Crowd::default();
        for outcome in reads.join_all().await {
            crowd.loads += u64::from(outcome == Outcome::Loaded);
            crowd.unanswered += u64::from(outcome == Outcome::Unanswered);
        }
        crowd.took = began.elapsed();
        crowd
    }

    /// Reads one product as any client of a server does, and loads it if that is left to it.
    async fn read(&self, id: &str) -> Outcome {
        let began = now();
        let outcome = self.obtain(id).await;
        match outcome {
            Outcome::Served | Outcome::Loaded => self.figures.answered(began.elapsed()),
            Outcome::Unanswered => self.figures.unanswered(began.elapsed()),
        }
        outcome
    }

    async fn obtain(&self, id: &str) -> Outcome {
        let target = Target { client: &self.client, space: SPACE, id };
        match target.take(WAIT_MS).await {
            Ok(Leased::Value { lease: None } | Leased::Absent) => Outcome::Served,
            Ok(Leased::Value { lease: Some(lease) } | Leased::Granted(lease)) => {
                let value = self.origin.load(id).await;
                // A fill that comes too late, or that Redis does not answer, costs the next caller a load.
                target.fill(&lease, value, Some(LIFE_MS)).await.ok();
                Outcome::Loaded
            }
            Ok(Leased::Busy | Leased::Failed) => {
                self.origin.load(id).await;
                Outcome::Loaded
            }
            Err(_) => Outcome::Unanswered,
        }
    }

    /// One of the products, by how much they are wanted.
    fn any(&self) -> String {
        let most = self.wanted.last().copied().unwrap_or_default();
        let drawn = rand::rng().random_range(0.0..most);
        format!("p-{}", self.wanted.partition_point(|sum| *sum <= drawn) + 1)
    }
}
