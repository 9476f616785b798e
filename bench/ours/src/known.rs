//! Forebay's filter over Redis.

use std::{fmt, time::Duration};

use contest::Step;
use forebay::{
    Error, Forebay,
    filter::{Answer, Filter},
};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

/// For a million ids, one of a hundred others answered wrong.
const CAPACITY: u64 = 1_000_000;
const RATE: f64 = 0.01;

/// One process that asks a filter for so many ids at a time.
pub struct Known {
    filter: Filter,
    ids: usize,
    /// Whose connection it is.
    _forebay: Forebay,
}

impl Known {
    /// The name in the tables.
    pub const NAME: &str = "Forebay `check_all`";

    /// A process over the Redis at `url`, whose filter knows what it has to know.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str, ids: usize) -> Self {
        let forebay = runtime.block_on(crate::connect(url));
        let filter = forebay.filter("products", CAPACITY, RATE).visible_within(Duration::ZERO).build();
        let filter = filter.expect("the parameters fit");
        let filled = runtime
            .block_on(filter.rebuild::<Error>(async |fresh| fresh.add_all(contest::known_products()).await));
        let _done = filled.expect("Redis takes them");
        Self { filter, ids, _forebay: forebay }
    }
}

impl Step for Known {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let (filter, ids) = (self.filter.clone(), self.ids);
        Box::pin(async move {
            let products = contest::products(number, ids);
            let answers = filter.check_all(products.iter().map(|(id, _)| id)).await;
            let mut pairs = answers.iter().zip(&products);
            pairs.all(|(answer, (_, is_known))| (*answer == Answer::Maybe) == *is_known)
        })
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("ids", &self.ids).finish_non_exhaustive()
    }
}
