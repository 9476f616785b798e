//! Calls that are dropped after every number of polls that they can be dropped after.

use super::{error, record, today, unique};
use crate::{polls::within_polls, rig::Rig};

/// More than any of these calls is polled.
const MOST: usize = 100;

/// As many come before each call: some batches.
const COME: usize = 2100;

pub(crate) async fn a_flush_that_is_dropped_at_any_await_loses_nobody(rig: impl Rig) {
    let unique = unique(&rig);
    for polls in 0..MOST {
        record(&unique, polls * COME..(polls + 1) * COME);
        let done = within_polls(polls, unique.flush()).await;
        assert_eq!(unique.figures().dropped, 0);
        let count = today(&unique).await;
        assert!(error(count, (polls + 1) * COME) < 0.03, "{count} after {polls} polls");
        if done.is_some() {
            assert!(polls > 0);
            return;
        }
    }
    panic!("a flush does not end");
}

pub(crate) async fn a_count_that_is_dropped_at_any_await_loses_nobody(rig: impl Rig) {
    let unique = unique(&rig);
    for polls in 0..MOST {
        record(&unique, polls * COME..(polls + 1) * COME);
        let done = within_polls(polls, unique.count_days(2)).await;
        let count = today(&unique).await;
        assert!(error(count, (polls + 1) * COME) < 0.03, "{count} after {polls} polls");
        if done.is_some() {
            assert!(polls > 0);
            return;
        }
    }
    panic!("a count does not end");
}
