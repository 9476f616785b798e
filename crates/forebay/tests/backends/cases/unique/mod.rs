//! The cases of counters of visitors.

pub(crate) mod cancelled;
pub(crate) mod counts;
pub(crate) mod days;
pub(crate) mod million;
pub(crate) mod refusals;

use std::time::Duration;

use forebay::unique::Unique;

use crate::rig::Rig;

pub(crate) const HOUR: Duration = Duration::from_hours(1);

/// A counter by the default options.
pub(crate) fn unique(rig: &impl Rig) -> Unique {
    rig.forebay().unique("site").build().unwrap()
}

pub(crate) fn record(unique: &Unique, ids: impl IntoIterator<Item = usize>) {
    ids.into_iter().for_each(|id| unique.record(&id.to_string()));
}

pub(crate) async fn today(unique: &Unique) -> u64 {
    unique.today().await.unwrap().visitors
}

/// By how much a count is off.
fn error(count: u64, truth: usize) -> f64 {
    (count as f64 / truth as f64 - 1.0).abs()
}

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp_unique {
    ($rig:ty) => {
        mod unique {
            crate::cases::unique::stamp! { $rig;
                counts: {
                    who_comes_often_is_one_visitor,
                    every_odd_id_is_a_visitor_of_its_own,
                    counters_share_nothing,
                    clones_are_one_counter,
                    counting_while_others_come_loses_nobody,
                    nobody_is_dropped_and_nobody_waits_after_a_flush,
                    a_reader_counts_the_same_and_takes_no_place,
                }
                days: {
                    days_together_count_each_visitor_once,
                    a_whole_week_can_always_be_counted,
                    who_comes_before_and_after_midnight_is_a_visitor_of_both_days,
                    a_day_that_is_no_longer_kept_is_refused_and_one_to_come_is_empty,
                    days_are_those_of_the_time_zone,
                }
                refusals: {
                    what_cannot_be_counted_together_is_refused,
                    a_counter_that_could_not_work_is_refused_when_built,
                    a_counter_is_built_once,
                }
                cancelled: {
                    a_flush_that_is_dropped_at_any_await_loses_nobody,
                    a_count_that_is_dropped_at_any_await_loses_nobody,
                }
                million: {
                    a_million_over_a_week_are_counted_within_two_percent,
                }
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::unique::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp_unique as stamp;
