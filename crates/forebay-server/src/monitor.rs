//! Looks after Redis while nobody asks: full memory is told of in the log, and some of the keys are looked at.

use std::time::Duration;

use forebay::health::SampleBounds;
use tokio::time::sleep;

use crate::app::Shared;

/// How often. A look takes a server a few milliseconds at most.
const EVERY: Duration = Duration::from_secs(60);

/// When the first time.
const FIRST: Duration = Duration::from_secs(2);

/// Looks now and then, until the server shuts down.
pub(crate) async fn watch(app: Shared) {
    let looks = async {
        // Redis is not there at once.
        sleep(FIRST).await;
        loop {
            app.forebay.sample_keys(SampleBounds::default()).await;
            app.forebay.health().await;
            sleep(EVERY).await;
        }
    };
    tokio::select! {
        () = looks => {}
        () = app.draining.cancelled() => {}
    }
}
