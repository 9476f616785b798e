//! What it has come to, beside what it would have been.

use serde::Serialize;

use super::load::Shop;
use crate::cli::{
    output::Paint,
    words::{count, span},
};

/// The same requests, twice.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    /// What each request would have come to by itself: computed, as each of them is one load.
    without: Column,
    with: Column,
}

#[derive(Debug, Serialize)]
struct Column {
    requests: u64,
    origin_calls: u64,
    p50_ms: f64,
    p99_ms: f64,
    failed: u64,
}

impl Compared {
    pub(super) fn of(shop: &Shop) -> Self {
        let (seen, load_ms) = (shop.figures.all(), millis(shop.origin.takes()));
        let requests = seen.requests;
        Self {
            without: Column { requests, origin_calls: requests, p50_ms: load_ms, p99_ms: load_ms, failed: 0 },
            with: Column {
                requests,
                origin_calls: shop.origin.calls(),
                p50_ms: millis(seen.p50),
                p99_ms: millis(seen.p99),
                failed: seen.failed,
            },
        }
    }

    pub(super) fn table(&self, paint: Paint) -> String {
        let row = |name: &str, of: &dyn Fn(&Column) -> String| {
            let [without, with] = [&self.without, &self.with].map(of);
            format!("{name:<22}{without:>18}{with:>18}\n")
        };
        let time = |ms: f64| span(std::time::Duration::from_secs_f64(ms / 1e3));
        let mut text =
            paint.bold(&format!("{:<22}{:>18}{:>18}", "", "without Forebay", "with Forebay")) + "\n";
        text += &row("requests", &|column| count(column.requests));
        text += &paint.good(&row("loads from the origin", &|column| count(column.origin_calls)));
        text += &row("half are answered in", &|column| time(column.p50_ms));
        text += &row("99 of 100 in", &|column| time(column.p99_ms));
        text += &row("not answered", &|column| count(column.failed));
        text += &format!("\n{}\n", paint.dim("Without Forebay: computed, one load for each request."));
        text
    }
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
