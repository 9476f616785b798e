//! What Redis tells of itself, as `/redis-monitor/stats` has it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};

use super::lock;
use crate::{api::monitor::monitor, app::Shared};

/// How often it is asked.
const TICK: Duration = Duration::from_secs(2);

/// Asks until the server shuts down, for as long as anybody looks.
pub(crate) async fn monitored(app: Shared) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = app.draining.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if app.dashboard.frames.receiver_count() > 0 {
            let told: Value = json!(monitor(&app).await);
            *lock(&app.dashboard.monitored) = told;
        }
    }
}
