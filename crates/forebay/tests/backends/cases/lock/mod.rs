//! Locks.

pub(crate) mod cancelled;
pub(crate) mod holding;
pub(crate) mod losing;
pub(crate) mod tokens;
pub(crate) mod waiting;

use std::time::Duration;

use forebay::lock::{Guard, Lock};

use crate::rig::Rig;

/// The life of the locks of these cases.
const LIFE: Duration = Duration::from_secs(3);

fn lock(rig: &impl Rig) -> Lock {
    rig.forebay().lock("plan:42").time_to_live(LIFE)
}

/// Takes a lock that is free.
async fn take(lock: &Lock) -> Guard {
    lock.try_acquire().await.expect("the store can be asked").expect("the lock is free")
}

async fn is_free(lock: &Lock) -> bool {
    lock.try_acquire().await.expect("the store can be asked").is_some()
}

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp_lock {
    ($rig:ty) => {
        mod lock {
            crate::cases::lock::stamp! { $rig;
                holding: {
                    a_lock_has_one_holder_at_a_time,
                    the_fence_grows_with_every_holding,
                    a_lock_is_held_for_as_long_as_its_guard_is_there,
                    a_short_life_is_renewed_beside_a_long_one,
                    a_dropped_guard_frees_the_lock_wherever_it_is_dropped,
                    a_thousand_tasks_hold_a_lock_one_after_the_other,
                    every_odd_name_is_a_lock_of_its_own,
                    work_is_done_under_a_lock_that_is_free_afterwards,
                    a_panic_under_a_lock_frees_it,
                    what_could_not_work_is_refused_and_holds_nobody_up,
                    shutting_down_frees_what_is_held_and_tells_the_holder,
                }
                losing: {
                    a_holder_learns_that_its_lock_was_taken_away,
                    work_is_dropped_once_its_lock_is_lost,
                    a_forgotten_holder_loses_the_lock,
                    a_loop_without_end_loses_the_lock,
                    a_lock_that_is_lost_is_not_freed_for_its_next_holder,
                    a_freed_lock_is_lost_to_what_was_handed_out,
                    a_lock_that_is_taken_away_has_a_larger_fence_next_and_is_lost_at_its_renewal,
                    a_lock_that_is_taken_away_goes_to_who_waits,
                    what_nobody_holds_is_not_taken_away,
                }
                waiting: {
                    who_waits_gets_the_lock_once_it_is_free,
                    who_waits_is_served_in_the_order_of_coming,
                    who_waits_in_vain_is_told_when_to_come_back,
                    who_waits_outlasts_a_holder_that_vanished,
                    a_waiter_that_gives_up_leaves_no_trace,
                    the_head_of_fifty_waiters_goes_away,
                    nobody_waits_for_nothing,
                    a_shutdown_keeps_nobody_waiting,
                }
                tokens: {
                    whoever_asks_again_under_its_token_has_the_same_fence,
                    whoever_holds_the_lock_already_stands_behind_nobody,
                    whoever_asks_for_less_keeps_what_it_has,
                    the_last_guard_under_a_token_frees_the_lock,
                    whoever_frees_a_lock_tells_every_guard_under_its_token,
                    a_guard_of_an_earlier_holding_frees_no_later_one,
                    a_token_that_was_handed_out_outlives_other_guards,
                    a_stranger_frees_and_renews_nothing,
                    a_token_holds_the_lock_until_it_is_freed,
                    a_token_is_renewed_by_hand,
                    a_renewal_revives_nothing,
                    a_refused_renewal_drops_nothing,
                }
                cancelled: {
                    an_acquire_that_is_dropped_at_any_await_leaves_the_lock_free,
                    a_wait_that_is_dropped_at_any_await_leaves_the_lock_to_others,
                    a_release_that_is_dropped_at_any_await_frees_the_lock,
                    work_that_is_dropped_at_any_await_frees_the_lock,
                }
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::lock::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp_lock as stamp;
