//! What limiters, locks, executions, filters and counters keep in a server, and the server's time by which they do.

pub(crate) mod clocks;
pub(crate) mod filters;
pub(crate) mod keys;
pub(crate) mod locks;
pub(crate) mod once;
pub(crate) mod visitors;

use std::time::Duration;

use forebay::{
    Forebay, Subject,
    clock::Clock,
    limiter::{Limiter, Mode},
    status::Status,
};

use crate::{
    clocked::{ClockedRig, Clocks},
    rig::SECOND,
    server::Servers,
};

const MINUTE: Duration = Duration::from_secs(60);

/// A call of a server: the name first, then its arguments.
type Command<'a> = &'a [&'a str];

impl<S: Clocks> ClockedRig<S> {
    /// Asks the node that has the key of the command.
    fn call(&self, command: Command<'_>) -> String {
        let mut answers = self.0.servers.nodes().iter().map(|node| node.call(command));
        answers.find(|answer| !answer.starts_with("-MOVED")).expect("some node has every key")
    }

    /// The key of the lock that the cases use.
    fn lock_key(&self, kind: &str) -> String {
        format!("{kind}:{}:{{plan:42}}", self.0.app)
    }

    fn key(&self, limiter: &Limiter, subject: &Subject) -> String {
        let mode = match limiter.mode() {
            Mode::Strict => "",
            Mode::Sliding => ":sw",
            Mode::Log => ":log",
            _ => ":gcra",
        };
        format!("rate_limit:{}:{}:{{{}}}{mode}", self.0.app, limiter.policy(), subject.as_str())
    }

    fn life(&self, key: &str) -> i64 {
        self.call(&["PTTL", key]).parse().unwrap()
    }

    /// How many keys the case has.
    fn keys(&self) -> usize {
        let pattern = format!("*:{}:*", self.0.app);
        let keys = self.0.servers.nodes().iter().map(|node| node.call(&["KEYS", &pattern]));
        keys.map(|keys| keys.lines().filter(|line| !line.is_empty()).count()).sum()
    }

    fn scripts(&self) -> u64 {
        self.0.servers.nodes().iter().map(|node| node.calls("evalsha") + node.calls("eval")).sum()
    }

    /// A process whose clock is `ahead` of that of the rig.
    async fn process(&self, ahead: Duration) -> Forebay {
        let (clock, time) = Clock::manual();
        time.advance(ahead);
        let builder = Forebay::builder(&self.0.app).redis(self.0.servers.url()).redis_budget(SECOND * 5);
        let forebay = builder.clock(clock).build().await.unwrap();
        while !matches!(forebay.status(), Status::Redis(status) if status.usable) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        forebay
    }
}

/// Stamps one test per case for a rig.
macro_rules! stamp_stored {
    ($rig:ty) => {
        mod stored {
            crate::stored::stamp! { $rig;
                keys: {
                    a_decision_is_one_key_that_ends_with_its_windows,
                    what_is_no_count_counts_as_nothing_and_is_replaced,
                    a_key_that_was_made_to_stay_ends_again,
                    an_unlimited_tier_asks_nothing,
                    the_snippet_that_everybody_copies_takes_for_refusals_too,
                }
                locks: {
                    a_lock_is_its_token_and_fence_and_ends,
                    a_fence_is_the_servers_time_in_microseconds_or_above,
                    only_a_lock_that_is_waited_for_is_announced,
                    what_is_no_lock_keeps_everybody_out_and_stays,
                    what_stays_for_ever_under_a_locks_key_is_told_by_its_name,
                    a_spoilt_fence_is_written_anew,
                }
                once: {
                    a_claim_is_its_token_and_ends,
                    what_stays_for_ever_under_a_claims_key_is_told_by_its_name,
                    an_execution_is_one_key_that_ends_an_hour_after_its_beginning,
                    a_record_that_is_too_large_takes_no_room,
                    what_is_no_record_is_never_run_and_stays,
                    a_record_that_was_made_to_stay_ends_again,
                    a_record_that_the_server_has_lost_is_made_anew_when_it_is_done,
                    an_execution_learns_that_the_server_has_lost_it,
                    a_lease_ends_by_the_servers_clock,
                }
                filters: {
                    without_its_pointer_a_filter_says_maybe,
                    without_its_bitmap_a_filter_says_maybe,
                    a_bitmap_that_ends_during_a_rebuild_is_not_put_into_use,
                    a_filter_is_two_keys_and_a_rebuild_one_more,
                    a_filter_that_nobody_uses_ends_and_one_in_use_does_not,
                    what_is_no_pointer_is_never_denied_by_and_is_replaced,
                    a_rebuild_whose_process_stands_still_keeps_nobody_out_for_long,
                    an_id_has_the_same_bits_for_ever,
                }
                visitors: {
                    a_day_is_one_key_of_less_than_14_5_kb_that_ends_with_its_last_count,
                    a_thousand_are_one_round_trip_and_are_not_sent_again_soon,
                    who_is_recorded_is_sent_within_a_second_or_with_a_thousand,
                    who_has_a_counter_no_more_has_sent_all,
                    a_clock_that_is_off_by_a_day_changes_nothing,
                    who_waits_over_midnight_counts_on_the_day_on_which_it_came,
                    who_waited_for_longer_than_days_are_kept_is_dropped_and_told,
                    a_day_on_which_clocks_are_moved_ends_at_its_midnight,
                    what_is_no_count_of_a_day_counts_as_nothing_and_is_replaced,
                    a_day_that_was_made_to_stay_ends_again,
                    an_id_is_stored_as_half_of_its_hash,
                }
                clocks: {
                    clocks_of_processes_that_are_apart_change_nothing,
                    a_clock_that_steps_back_frees_nothing_and_freezes_nobody,
                    after_a_step_back_the_limit_holds,
                    a_clock_that_steps_forward_frees_what_that_time_would,
                    clocks_of_processes_that_are_apart_change_nothing_about_tags,
                }
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::stored::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp_stored as stamp;
