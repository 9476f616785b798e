//! Forebay's claims and its idempotency over Redis.

use std::fmt;

use contest::{BRIEF, PAYLOAD, Step};
use forebay::{
    Forebay,
    once::{Begun, Completed, Idempotency, Record},
};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

/// One process that claims names.
pub struct Claimer(Forebay);

impl Claimer {
    /// The name in the tables.
    pub const NAME: &str = "Forebay `claim`";

    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self(runtime.block_on(crate::connect(url)))
    }
}

impl Step for Claimer {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let forebay = self.0.clone();
        Box::pin(async move { forebay.claim(&contest::claimed_twice(number), BRIEF).await.is_ok() })
    }
}

/// One process that does things once.
pub struct Payments {
    payments: Idempotency,
    /// Whose connection it is.
    _forebay: Forebay,
}

impl Payments {
    /// The name in the tables.
    pub const NAME: &str = "Forebay `begin`, `complete`";

    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        let forebay = runtime.block_on(crate::connect(url));
        let payments = forebay.idempotency().lease(BRIEF).keep(BRIEF).build();
        Self { payments: payments.expect("the options are valid"), _forebay: forebay }
    }
}

impl Step for Payments {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let payments = self.payments.clone();
        Box::pin(async move {
            let Ok(Begun::Run(execution)) = payments.begin(&contest::payment(number), "12 EUR").await else {
                return false;
            };
            let record = Record::new(vec![7; PAYLOAD]);
            matches!(execution.complete(record).await, Ok(Completed::Stored))
        })
    }
}

impl fmt::Debug for Claimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimer").finish_non_exhaustive()
    }
}

impl fmt::Debug for Payments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payments").finish_non_exhaustive()
    }
}
