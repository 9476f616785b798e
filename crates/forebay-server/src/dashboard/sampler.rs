//! The task that looks at the figures each second.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{MissedTickBehavior, interval};

use super::{
    columns::COLUMNS, history::Row, lists::Lists, live, lock, notes::Notes, now::Now, scrape::Scrape,
};
use crate::app::Shared;

const TICK: Duration = Duration::from_secs(1);

/// What one look needs of the one before.
#[derive(Debug, Default)]
struct Sampler {
    totals: Option<Vec<f64>>,
    notes: Notes,
}

/// Looks until the server shuts down.
pub(crate) async fn sample(app: Shared) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sampler = Sampler::default();
    loop {
        tokio::select! {
            biased;
            () = app.draining.cancelled() => return,
            _ = ticks.tick() => sampler.look(&app),
        }
    }
}

impl Sampler {
    fn look(&mut self, app: &Shared) {
        let scrape = Scrape::read(&app.metrics());
        let at_ms = now_ms();
        let totals: Vec<_> = COLUMNS.iter().map(|column| column.total(&scrape)).collect();
        let row = self.row(at_ms, &totals);
        self.notes.take(&scrape, at_ms);
        let now = live::frame("now", &Now::of(&scrape, &row, &totals, &app.forebay.status()));
        let lists = self.lists(app);
        self.totals = Some(totals);
        lock(&app.dashboard.history).push(row);
        app.dashboard.frames.send_modify(|frames| frames.replace(now, lists));
    }

    /// The first has nothing to compare with, and so has brought nothing.
    fn row(&self, at_ms: u64, totals: &[f64]) -> Row {
        let before = self.totals.as_deref().unwrap_or(totals);
        let cells = COLUMNS.iter().zip(before.iter().zip(totals));
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough for a chart")]
        let cells = cells.map(|(column, (before, now))| column.cell(*before, *now) as f32).collect();
        Row { at_ms, cells }
    }

    fn lists(&self, app: &Shared) -> String {
        let visitors = lock(&app.dashboard.visitors).clone();
        let monitored = lock(&app.dashboard.monitored).clone();
        let notes = self.notes.iter().collect();
        live::frame("lists", &Lists { notes, visitors: &visitors, monitored: &monitored })
    }
}

pub(super) fn now_ms() -> u64 {
    Timestamp::now().as_millisecond().try_into().unwrap_or_default()
}
