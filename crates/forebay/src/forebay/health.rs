//! What an operator asks of a `Forebay`.

use super::Forebay;
use crate::{
    context::Context,
    health::{Diagnosis, Health, HotKey, RefusedSubject, Sample, SampleBounds},
};

impl Forebay {
    /// What Redis tells of itself, rated, with what to do about it. It is asked once a second at most, and has half a second
    /// to answer, or the [budget](crate::Builder::redis_budget) where that is longer, but two seconds at most; of a server
    /// that does not, the last figures are told, with their age. Memory that is nearly full is told
    /// of in the log, by one process in an hour.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use forebay::{Forebay, health::Health};
    ///
    /// let forebay = Forebay::from_env("shop").build().await?;
    /// if let Health::Redis(redis) = forebay.health().await {
    ///     redis.advice.iter().for_each(|advice| eprintln!("{advice}"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn health(&self) -> Health {
        self.homes().health.report().await
    }

    /// Looks at some of the keys in Redis, going on where the last look ended: which have no expiry, and which are big.
    /// [`Forebay::health`] tells of it too. On the memory store there is nothing to find.
    pub async fn sample_keys(&self, bounds: SampleBounds) -> Sample {
        self.homes().health.sample(bounds).await
    }

    /// The ids that this process has read most lately, at most 50, if it was built with
    /// [`heavy_hitters`](crate::Builder::heavy_hitters).
    pub fn hot_keys(&self) -> Vec<HotKey> {
        let Context { heavy, clock, .. } = &self.shared().context;
        heavy.iter().flat_map(|heavy| heavy.most_read(clock)).map(HotKey::from).collect()
    }

    /// The subjects that limiters of this process have refused most lately, likewise.
    pub fn most_refused(&self) -> Vec<RefusedSubject> {
        let Context { heavy, clock, .. } = &self.shared().context;
        heavy.iter().flat_map(|heavy| heavy.most_refused(clock)).map(RefusedSubject::from).collect()
    }

    /// Examines the set-up, in the order in which one would mend it. It takes some seconds where something is wrong.
    pub async fn diagnose(&self) -> Diagnosis {
        self.homes().health.diagnose().await
    }
}
