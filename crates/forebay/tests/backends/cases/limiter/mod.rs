//! The cases of the limiter: each goes through all modes, as their results are the same unless a case says otherwise.

pub(crate) mod changes;
pub(crate) mod decisions;
pub(crate) mod edges;
pub(crate) mod reservations;
pub(crate) mod subjects;
pub(crate) mod together;

use std::time::Duration;

use forebay::{
    Subject,
    limiter::{Decision, Limiter, Mode, Quota, Tiers},
};

use crate::rig::Rig;

pub(crate) const MODES: [Mode; 4] = [Mode::Strict, Mode::Sliding, Mode::Log, Mode::Gcra];

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_hours(1);
const MS: Duration = Duration::from_millis(1);

/// Tiers with one that is called `free`.
pub(crate) fn free<const N: usize>(windows: [&str; N]) -> Tiers {
    Tiers::new().tier("free", windows).unwrap()
}

/// A limiter of a policy that is named after the mode.
pub(crate) fn limiter(rig: &impl Rig, mode: Mode, tiers: Tiers) -> Limiter {
    let policy = format!("{mode:?}").to_lowercase();
    rig.forebay().limiter(&policy, tiers).mode(mode).build().unwrap()
}

/// A limiter in each mode. The mode is told, in case that a case fails.
pub(crate) fn each_mode(rig: &impl Rig, tiers: Tiers) -> impl Iterator<Item = (Mode, Limiter)> {
    MODES.into_iter().map(move |mode| {
        println!("{mode:?}");
        (mode, limiter(rig, mode, tiers.clone()))
    })
}

pub(crate) fn user() -> Subject {
    Subject::user("42")
}

/// Takes `n` times one as `free`, all of which is admitted.
pub(crate) async fn take(limiter: &Limiter, subject: &Subject, n: u64) {
    for taken in 0..n {
        let decision = limiter.check(subject, "free").await;
        assert!(decision.is_allowed(), "after {taken} of {n}: {decision:?}");
    }
}

/// What is left, as a peek tells it.
pub(crate) async fn left(limiter: &Limiter, subject: &Subject) -> u64 {
    quota(&limiter.peek(subject, "free").await).remaining()
}

pub(crate) fn quota(decision: &Decision) -> &Quota {
    decision.quota().unwrap_or_else(|| panic!("there is no quota in {decision:?}"))
}

/// What is left after a call that goes on.
fn allowed(decision: &Decision) -> u64 {
    assert!(decision.is_allowed(), "{decision:?}");
    quota(decision).remaining()
}

/// When to come back after a call that does not go on.
pub(crate) fn denied(decision: &Decision) -> Duration {
    match decision {
        Decision::Denied { retry_after, .. } => *retry_after,
        other => panic!("it goes on, or never can: {other:?}"),
    }
}

/// Has the store itself decide next time, whatever this process remembers.
pub(crate) fn forget_refusals(limiter: &Limiter, tiers: Tiers) {
    limiter.replace_tiers(tiers).unwrap();
}

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp_limiter {
    ($rig:ty) => {
        mod limiter {
            crate::cases::limiter::stamp! { $rig;
                decisions: {
                    as_many_as_the_limit_are_admitted_and_told_what_is_left,
                    who_comes_when_told_is_admitted_and_not_before,
                    a_quota_is_whole_after_the_time_that_is_told,
                    a_refusal_takes_nothing_out_of_any_window,
                    a_peek_takes_nothing,
                    of_two_windows_the_binding_one_is_told,
                    twice_the_limit_at_once_is_the_limit,
                    who_looks_while_others_take_takes_nothing,
                    around_the_end_of_a_minute_the_bound_holds,
                }
                edges: {
                    a_cost_of_nothing_takes_nothing,
                    a_cost_above_the_limit_never_fits_and_takes_nothing,
                    a_limit_of_zero_denies_every_cost_for_its_window,
                    a_limit_of_one_admits_one,
                    the_largest_limit_is_counted_exactly,
                    a_thousand_in_a_millisecond_are_a_thousand,
                    an_unlimited_tier_is_never_refused,
                    what_cannot_be_counted_is_refused_when_built,
                    a_policy_is_built_once,
                }
                changes: {
                    an_unknown_tier_is_the_lowest,
                    another_tier_keeps_what_was_taken,
                    a_limit_lowered_below_what_is_taken_denies,
                    a_limit_that_is_raised_admits_the_next_call,
                    tiers_that_do_not_fit_leave_the_old_ones,
                    windows_that_only_one_tier_has_still_count_for_it,
                }
                reservations: {
                    what_was_reserved_too_much_is_given_back,
                    what_was_used_beyond_is_taken_as_far_as_it_fits,
                    a_reservation_that_is_not_settled_counts_as_reserved,
                    a_reservation_of_nothing_is_settled_up,
                    a_reservation_that_is_refused_takes_nothing,
                    after_a_reset_a_settlement_gives_nothing_back,
                    after_its_windows_a_settlement_gives_nothing_back,
                    only_what_fails_counts_if_the_rest_is_settled_to_nothing,
                }
                together: {
                    a_tenant_without_quota_leaves_its_users_theirs,
                    what_all_admit_is_taken_from_all,
                    the_tightest_quota_of_all_is_told,
                    a_subject_that_is_named_twice_is_taken_from_once,
                    nobody_at_all_is_admitted,
                }
                subjects: {
                    every_odd_subject_has_a_quota_of_its_own,
                    a_reset_gives_one_subject_its_whole_quota,
                    policies_share_nothing,
                }
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::limiter::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp_limiter as stamp;
