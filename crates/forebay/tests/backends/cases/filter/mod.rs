//! The cases of the filter, and of a cache that is guarded by one.

pub(crate) mod answers;
pub(crate) mod cancelled;
pub(crate) mod guard;
pub(crate) mod histories;
pub(crate) mod rebuilds;

use std::time::Duration;

use forebay::{
    Error,
    filter::{Answer, Filter, Rebuilt},
};
use tokio::sync::Semaphore;

use crate::rig::Rig;

/// A filter whose rebuilds wait for nothing.
pub(crate) fn filter(rig: &impl Rig) -> Filter {
    sized(rig, 1_000, 1e-6)
}

/// One of a size of its own. At a millionth, an id that is not there is hardly ever taken for another.
pub(crate) fn sized(rig: &impl Rig, capacity: u64, rate: f64) -> Filter {
    rig.forebay().filter("known", capacity, rate).visible_within(Duration::ZERO).build().unwrap()
}

/// Fills the filter with exactly these.
pub(crate) async fn fill(filter: &Filter, ids: &[&str]) {
    let rebuilt = filter.rebuild(async |fresh| fresh.add_all(ids).await).await.unwrap();
    assert_eq!(rebuilt, Rebuilt::Complete);
}

/// Which of these there may be.
pub(crate) async fn may_be<'a>(filter: &Filter, ids: &[&'a str]) -> Vec<&'a str> {
    let answers = filter.check_all(ids).await;
    assert_eq!(answers.len(), ids.len());
    let both = ids.iter().zip(answers);
    both.filter(|(_, answer)| *answer == Answer::Maybe).map(|(id, _)| *id).collect()
}

/// The source of a rebuild that waits before its end until it is let go.
pub(crate) struct Gate {
    begun: Semaphore,
    let_go: Semaphore,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { begun: Semaphore::new(0), let_go: Semaphore::new(0) }
    }

    /// Rebuilds `filter` with `ids`, and waits.
    pub(crate) async fn rebuild(&self, filter: &Filter, ids: &[&str]) -> Result<Rebuilt, Error> {
        filter
            .rebuild(async |fresh| {
                fresh.add_all(ids).await?;
                self.begun.add_permits(1);
                self.let_go.acquire().await.expect("it is never closed").forget();
                Ok(())
            })
            .await
    }

    /// Completes when the source has brought its ids.
    pub(crate) async fn waits(&self) {
        self.begun.acquire().await.expect("it is never closed").forget();
    }

    pub(crate) fn let_go(&self) {
        self.let_go.add_permits(1);
    }
}

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp_filter {
    ($rig:ty) => {
        mod filter {
            crate::cases::filter::stamp! { $rig;
                answers: {
                    a_filter_that_was_never_filled_says_maybe,
                    what_was_brought_or_added_may_be_and_nothing_else,
                    an_empty_origin_makes_a_filter_that_knows_nothing,
                    every_odd_id_is_known_by_itself,
                    filters_share_nothing,
                    whoever_builds_it_again_uses_the_same,
                    other_parameters_are_those_of_the_next_rebuild,
                    at_capacity_it_is_mistaken_as_seldom_as_was_asked,
                    its_figures_tell_how_full_it_is,
                    beyond_its_capacity_it_forgets_nobody_and_says_so,
                    many_ids_are_answered_in_their_order,
                    a_filter_that_cannot_work_is_refused_when_built,
                }
                rebuilds: {
                    a_rebuild_forgets_what_it_is_not_brought,
                    until_its_end_the_old_one_answers,
                    what_is_added_during_a_rebuild_is_in_the_old_and_in_the_new,
                    of_two_rebuilds_one_runs,
                    a_rebuild_that_fails_changes_nothing,
                    a_rebuild_that_is_dropped_makes_room_for_the_next,
                    a_rebuild_asks_for_ids_once_all_that_was_added_before_is_visible,
                    a_long_rebuild_keeps_its_place,
                    a_rebuild_runs_in_a_task_of_its_own,
                }
                cancelled: {
                    a_rebuild_that_is_cancelled_at_any_await_leaves_nothing_that_blocks,
                    an_add_that_is_cancelled_at_any_await_leaves_nothing_that_blocks,
                }
                histories: {
                    nothing_that_was_added_is_ever_denied,
                }
                guard: {
                    an_id_that_cannot_exist_is_neither_loaded_nor_leased,
                    an_id_that_cannot_exist_is_not_even_read,
                    what_the_filter_may_know_is_loaded,
                    an_absence_by_the_filter_is_not_remembered,
                    a_guard_that_was_never_filled_keeps_nobody_out,
                    what_is_in_process_memory_needs_no_filter,
                    a_thousand_callers_ask_the_filter_once,
                    a_put_adds_nothing_to_the_filter,
                }
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::filter::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp_filter as stamp;
