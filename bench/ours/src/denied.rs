//! Forebay's limiter over Redis, whose subjects have nothing left.

use std::{fmt, time::Duration};

use contest::{Hit, Window, at_once};
use forebay::{
    Subject,
    limiter::{Decision, Mode},
};
use futures::future::join_all;
use tokio::runtime::Runtime;

use crate::limits::{Limits, TIER};

/// So many are refused at a time.
const CROWD: usize = 64;

/// A limiter that refuses all of its subjects, as they have taken their only permit.
pub struct Denied {
    limits: Limits,
    subjects: Vec<Subject>,
}

impl Denied {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str, subjects: &[String]) -> Self {
        let hour = Window { limit: 1, span: Duration::from_secs(3600) };
        let limits = Limits::of(runtime, url, Mode::Strict, &[hour], 1);
        let subjects = subjects.iter().map(Subject::user).collect();
        let denied = Self { limits, subjects };
        runtime.block_on(denied.check_all());
        denied
    }

    /// Lets Redis refuse every subject once more, after what was remembered of the last time is over.
    ///
    /// # Panics
    ///
    /// Panics if one is admitted.
    pub fn refuse_all(&self, runtime: &Runtime) {
        let refused = runtime.block_on(async {
            tokio::time::sleep(Duration::from_millis(1_100)).await;
            self.check_all().await
        });
        assert_eq!(refused, self.subjects.len(), "all are refused");
    }

    /// How many are refused.
    async fn check_all(&self) -> usize {
        let mut refused = 0;
        for crowd in self.subjects.chunks(CROWD) {
            let decisions =
                join_all(crowd.iter().map(|subject| self.limits.limiter.check(subject, TIER))).await;
            refused += decisions.iter().filter(|one| matches!(one, Decision::Denied { .. })).count();
        }
        refused
    }
}

impl Hit for Denied {
    fn name(&self) -> &'static str {
        "Forebay `check`"
    }

    fn read_all(&self, _keys: &[String], order: &[u32]) {
        at_once(async {
            for &number in order {
                let decision = self.limits.limiter.check(&self.subjects[number as usize], TIER).await;
                assert!(matches!(decision, Decision::Denied { .. }), "it was refused within the second");
            }
        });
    }
}

impl fmt::Debug for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Denied").field("subjects", &self.subjects.len()).finish_non_exhaustive()
    }
}
