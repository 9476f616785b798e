//! Finding ids by pattern: every primary is walked through with `SCAN`, slowly enough for everybody else.

use std::{collections::BTreeSet, time::Duration};

use super::RedisBackend;
use crate::{cache::backend::Finder, key::Part, redis::Primary};

/// The pause after each page of about 500 keys: at most 100,000 keys are looked at in a second.
const PAUSE: Duration = Duration::from_millis(5);

/// What is added to it for each id that was found: every process hears of each, at most 2,000 in a second.
const PAUSE_EACH: Duration = Duration::from_micros(500);

impl RedisBackend {
    /// Looks for leases first: a load that ends before its lease is found has stored its value before values are looked
    /// for. What is there from the beginning of a scan to its end is found by it.
    pub(super) async fn find(&self, finder: &dyn Finder) -> bool {
        let mut complete = true;
        for part in [Part::Lease, Part::Value] {
            let Ok(primaries) = self.redis.primaries() else { return false };
            for primary in primaries {
                complete &= self.scan(&primary, part, finder).await;
            }
        }
        complete
    }

    async fn scan(&self, primary: &Primary, part: Part, finder: &dyn Finder) -> bool {
        let pattern = self.keys.entries(part, &self.name, &finder.pattern().prefix());
        let mut cursor = 0;
        loop {
            let Ok((next, keys)) = primary.scan(cursor, &pattern).await else { return false };
            // Once each: of several versions, and of what a scan names twice.
            let ids: BTreeSet<&str> = keys
                .iter()
                .filter_map(|key| self.keys.read_entry(part, &self.name, self.version, key.text()?))
                .filter(|id| finder.pattern().takes(id))
                .collect();
            let pause = PAUSE.max(PAUSE_EACH * u32::try_from(ids.len()).unwrap_or(u32::MAX));
            if !finder.found(ids.into_iter().map(Box::from).collect()).await {
                return false;
            }
            if next == 0 {
                return true;
            }
            cursor = next;
            self.redis.clock().sleep(pause).await;
        }
    }
}
