//! Forebay's count of visitors over Redis.

use std::fmt;

use contest::Step;
use forebay::{Forebay, unique::Unique};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

/// So many may wait. More are never recorded before what waits is counted.
const ROOM: usize = 100_000;

/// One process that counts visitors.
pub struct Recorder {
    visitors: Unique,
    /// Whose connection it is.
    _forebay: Forebay,
}

impl Recorder {
    /// The name in the tables of one that has many counted together.
    pub const BATCHES: &str = "Forebay `record`, batched, 1 task";

    /// The name in the tables of one that has each counted before the next one comes.
    pub const FLUSHES: &str = "Forebay `record`, `flush` after each, 64 tasks";

    /// A process over the Redis at `url`, with this counter.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL, or the counter no name.
    pub fn new(runtime: &Runtime, url: &str, counter: &str) -> Self {
        let forebay = runtime.block_on(crate::connect(url));
        let visitors = runtime.block_on(async { forebay.unique(counter).buffer(ROOM).build() });
        Self { visitors: visitors.expect("the options are valid"), _forebay: forebay }
    }

    /// Records all of `ids`, and waits until they are counted.
    ///
    /// # Panics
    ///
    /// Panics if one is not counted.
    pub fn record_all(&self, ids: Vec<String>) -> BoxFuture<'static, ()> {
        let visitors = self.visitors.clone();
        Box::pin(async move {
            for some in ids.chunks(ROOM) {
                for id in some {
                    visitors.record(id);
                }
                // Where the machine stands still for longer than a request may take, they wait on.
                while visitors.flush().await.is_err() {}
            }
            let figures = visitors.figures();
            assert_eq!((figures.pending, figures.dropped), (0, 0), "all are counted");
        })
    }
}

impl Step for Recorder {
    fn name(&self) -> &'static str {
        Self::FLUSHES
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let visitors = self.visitors.clone();
        Box::pin(async move {
            visitors.record(&contest::visitor(number));
            visitors.flush().await.is_ok()
        })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
