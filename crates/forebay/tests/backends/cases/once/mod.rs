//! Claims, and work that runs once.

pub(crate) mod cancelled;
pub(crate) mod claims;
pub(crate) mod ends;
pub(crate) mod leases;
pub(crate) mod limits;
pub(crate) mod replays;

use std::time::Duration;

use forebay::once::{Begun, Completed, Execution, Idempotency, OnIndeterminate, Record};

use crate::rig::Rig;

/// The lease of these cases.
const LEASE: Duration = Duration::from_secs(3);

/// For how long it is kept what became of a name.
const KEEP: Duration = Duration::from_secs(120);

fn payments(rig: &impl Rig) -> Idempotency {
    rig.forebay().idempotency().lease(LEASE).keep(KEEP).build().unwrap()
}

/// As [`payments`], for what may run again.
fn again(rig: &impl Rig) -> Idempotency {
    let builder = rig.forebay().idempotency().lease(LEASE).keep(KEEP);
    builder.on_indeterminate(OnIndeterminate::Rerun).build().unwrap()
}

/// What a caller is told who wants `order` to run.
async fn ask(payments: &Idempotency, order: &str) -> Begun {
    payments.begin(order, "12 EUR").await.expect("the store can be asked")
}

/// Begins what nobody has begun.
async fn begin(payments: &Idempotency, order: &str) -> Execution {
    match ask(payments, order).await {
        Begun::Run(execution) => execution,
        other => panic!("somebody has begun {order}: {other:?}"),
    }
}

async fn complete(execution: Execution, text: &str) -> Completed {
    execution.complete(record(text)).await.expect("the store can be asked")
}

fn record(text: &str) -> Record {
    Record::new(text.to_owned())
}

/// In one word what a caller is told, or what was brought.
fn told(begun: &Begun) -> String {
    match begun {
        Begun::Run(_) => "run".into(),
        Begun::Done(record) if record.is_omitted() => "done".into(),
        Begun::Done(record) => String::from_utf8(record.bytes().to_vec()).unwrap(),
        Begun::Running { .. } => "running".into(),
        Begun::Mismatch => "mismatch".into(),
        Begun::Indeterminate => "indeterminate".into(),
    }
}

/// Lets time pass in steps that are shorter than a lease's renewal is late.
async fn pass(rig: &impl Rig, span: Duration) {
    let mut left = span;
    while !left.is_zero() {
        let step = left.min(Duration::from_millis(250));
        rig.pass(step).await;
        left -= step;
    }
}

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp_once {
    ($rig:ty) => {
        mod once {
            crate::cases::once::stamp! { $rig;
                claims: {
                    of_a_hundred_who_claim_a_name_one_has_it,
                    who_comes_when_told_claims_the_name_and_not_before,
                    a_claim_is_freed_under_its_token_alone,
                    whoever_asks_again_under_its_token_has_claimed_the_name,
                    a_claim_that_ended_is_not_freed_for_the_next,
                    every_odd_name_is_a_claim_of_its_own,
                    a_life_that_no_claim_can_have_is_refused,
                }
                replays: {
                    of_a_hundred_who_begin_one_runs,
                    what_was_brought_is_handed_out_to_all_who_ask,
                    another_fingerprint_is_told_so_at_every_stage,
                    a_name_is_known_from_the_first_request_on_and_no_longer,
                    whoever_asks_again_under_its_token_runs_still,
                    who_waits_is_told_what_was_brought,
                    who_waits_in_vain_is_told_so_in_time,
                    work_runs_once,
                    work_that_fails_says_whether_anything_was_done,
                    claims_and_executions_share_nothing,
                }
                leases: {
                    a_lease_is_renewed_for_as_long_as_its_execution_is_held,
                    an_execution_that_is_dropped_is_indeterminate_once_its_lease_has_ended,
                    what_may_run_again_runs_again_and_no_earlier,
                    what_runs_again_is_known_from_the_first_request_on,
                    whoever_ran_first_is_told_that_it_has_lost,
                    a_token_is_renewed_by_hand_and_only_while_it_runs,
                    a_name_that_ends_while_it_runs_is_lost,
                }
                ends: {
                    whoever_ran_first_cannot_overwrite_what_the_second_brings,
                    a_completion_after_its_lease_counts_if_nobody_has_run,
                    a_second_completion_changes_nothing_and_is_told_whether_it_is_the_same,
                    what_was_done_without_a_record_gets_none_later,
                    a_completion_by_token_is_as_good_as_by_its_execution,
                    what_is_done_is_not_given_up_any_more,
                    what_is_given_up_was_never_begun,
                    what_ran_again_and_is_given_up_stays_indeterminate,
                    a_stranger_neither_completes_nor_gives_up,
                    nothing_begins_after_shutdown,
                }
                limits: {
                    a_record_that_is_too_large_is_done_and_brings_nothing,
                    a_large_record_is_handed_out_whole,
                    every_byte_is_handed_out_as_it_was,
                    a_lease_that_cannot_be_is_refused,
                }
                cancelled: {
                    a_claim_that_is_dropped_at_any_await_keeps_nobody_out,
                    a_request_that_is_dropped_at_any_await_keeps_nobody_out,
                    a_wait_that_is_dropped_at_any_await_keeps_nobody_out,
                    a_completion_that_is_dropped_at_any_await_is_kept,
                    a_surrender_that_is_dropped_at_any_await_lets_the_next_run,
                    work_that_is_dropped_at_any_await_runs_once_at_most,
                }
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::once::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp_once as stamp;
