//! Whether every key has an expiry.

use std::time::Duration;

use super::{
    Verdict,
    exam::{Exam, Seen},
};
use crate::{health::SampleBounds, redis::Reply};

/// More than a look in passing: somebody has asked.
const KEYS: usize = 5_000;
const PAGES: usize = 200;
const TIME: Duration = Duration::from_secs(2);

impl Exam<'_> {
    pub(super) async fn expiry(&mut self) -> Seen {
        if let Some(code) = self.ask(&["SCAN", "0", "COUNT", "1"]).await.as_ref().and_then(Reply::code) {
            return (String::new(), Verdict::skipped(format!("SCAN is answered by {code}")));
        }
        let bounds = SampleBounds::default().keys(KEYS).pages(PAGES).time(TIME);
        let sample = self.home.sample(bounds).await;
        let extent = if sample.complete { "all" } else { "some" };
        let seen = format!("{extent} {} keys looked at", sample.looked_at);
        if sample.permanent.is_empty() && sample.withheld > 0 {
            let reason = format!("the user may not ask of {} keys how long they live", sample.withheld);
            return (String::new(), Verdict::skipped(reason));
        }
        if sample.permanent.is_empty() {
            return (format!("none without, {seen}"), Verdict::Well);
        }
        let some: Vec<_> = sample.permanent.iter().take(3).map(String::as_str).collect();
        let value = format!("{} without, such as {}", sample.permanent.len(), some.join(" "));
        let remedy = "look who writes them, then DEL them; Forebay writes no key without an expiry, and PERSIST takes it \
                      away";
        (value, Verdict::fault(remedy))
    }
}
