//! The cases, by what they are about.

pub(crate) mod abandonment;
pub(crate) mod absence;
pub(crate) mod adaptive;
pub(crate) mod again;
pub(crate) mod batches;
pub(crate) mod changes;
pub(crate) mod coalescing;
pub(crate) mod early;
pub(crate) mod failures;
pub(crate) mod filter;
pub(crate) mod fresh;
pub(crate) mod ids;
pub(crate) mod leases;
pub(crate) mod limiter;
pub(crate) mod limits;
pub(crate) mod lives;
pub(crate) mod lock;
pub(crate) mod lost;
pub(crate) mod matching;
pub(crate) mod once;
pub(crate) mod permits;
pub(crate) mod recursion;
pub(crate) mod shutdown;
pub(crate) mod stale;
pub(crate) mod tags;
pub(crate) mod topics;
pub(crate) mod unique;
pub(crate) mod warm;

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp {
    ($rig:ty) => {
        crate::cases::stamp! { $rig;
            coalescing: {
                whoever_comes_around_the_end_of_a_load_is_served,
                what_has_ended_is_loaded_again,
                a_thousand_callers_make_one_load,
                a_caller_that_leaves_harms_nobody,
                a_caller_that_loses_a_select_harms_nobody,
                a_leader_that_is_not_polled_blocks_nobody,
                a_caller_that_comes_during_the_load_is_served_by_it,
                two_ids_load_side_by_side,
                spaces_share_neither_loads_nor_values,
                callers_of_other_error_types_share_the_load,
                ten_thousand_stale_hits_make_one_refresh_and_wait_for_none,
                who_finds_nothing_any_more_waits_for_the_refresh_that_runs,
                a_get_neither_loads_nor_waits_for_a_load,
                when_the_wait_is_over_one_load_serves_all_and_is_not_stored,
            }
            abandonment: {
                a_thousand_callers_that_leave_are_counted_and_the_load_is_stored,
                a_load_is_cancelled_when_its_last_caller_leaves,
                a_cancelled_load_cancels_what_it_alone_waits_for,
                a_cancelled_load_leaves_no_trace,
                a_load_goes_on_while_a_lookup_waits_for_it,
                who_comes_while_the_last_one_leaves_is_served,
                a_thousand_lookups_that_vanish_leave_no_lease,
                loading_callers_beside_lookups_that_vanish_are_served,
                a_lease_that_nobody_takes_is_given_back_although_a_caller_is_parked,
            }
            failures: {
                twenty_callers_share_one_failing_load_and_its_error,
                for_a_moment_after_a_failure_nobody_loads,
                a_failure_of_one_key_is_none_of_another,
                everybody_hears_of_a_panic,
                everybody_hears_of_a_panic_before_the_first_await,
                a_key_works_at_once_after_a_panic,
                a_hung_load_ends_at_its_timeout_and_another_may_run,
                the_late_result_of_a_hung_load_is_stored_nowhere,
                a_failure_is_remembered_neither_as_value_nor_as_absence,
                a_stale_value_stands_in_for_a_failing_load,
                a_stale_value_stands_in_for_a_panic_and_a_timeout,
                a_failing_load_leaves_the_life_of_a_stale_value_alone,
                a_failing_refresh_leaves_a_stale_value_alone,
                beside_a_stale_value_a_failure_is_not_tried_again_at_once,
            }
            fresh: {
                a_fresh_read_loads_what_the_levels_have_and_stores_it,
                a_fresh_read_joins_a_load_that_has_not_begun,
                a_fresh_read_waits_for_a_load_that_has_begun_and_loads_anew,
                a_fresh_read_loads_although_the_running_load_fails,
                a_fresh_read_takes_a_busy_lease_only_after_its_holder,
                a_failing_fresh_read_gets_its_error_and_no_value_of_a_level,
                a_fresh_read_tries_although_a_load_failed_a_moment_ago,
                a_failing_fresh_load_leaves_others_their_stale_value,
                a_fresh_load_keeps_nobody_waiting_who_takes_stale_values,
            }
            permits: {
                a_nested_load_runs_on_the_permit_of_the_outer,
                two_spaces_that_ask_each_other_need_one_permit_each,
                a_load_that_waits_for_a_permit_gets_that_of_a_load_that_joins_it,
                a_nested_load_without_a_lease_runs_on_the_permit_of_the_outer,
                a_load_that_ends_badly_gives_its_permit_back,
                a_permit_is_lent_only_while_its_lender_waits,
                a_load_that_is_overtaken_while_it_waits_for_a_permit_leaves_the_key_one_load,
                a_refresh_that_waits_for_a_permit_does_not_block_the_permits_holder,
            }
            recursion: {
                a_load_that_asks_for_its_own_key_is_recursive,
                a_load_that_asks_for_its_own_key_through_another_is_recursive,
                two_loads_begun_apart_that_ask_for_each_other_are_recursive,
                each_of_the_loads_that_one_waits_for_may_close_the_circle,
                a_load_that_asks_freshly_for_its_own_key_is_recursive,
                a_load_that_finds_its_own_key_is_recursive,
                a_load_that_looks_its_own_key_up_hears_that_it_is_busy,
                a_refresh_that_asks_freshly_for_its_own_key_is_recursive,
                a_refused_recursion_counts_as_a_failure_and_not_as_a_cancelled_wait,
                a_load_may_wait_for_one_that_runs_for_somebody_else,
                two_ways_to_one_key_are_no_circle,
                a_load_within_a_load_of_another_forebay_is_no_circle,
                a_circle_through_a_task_of_the_loaders_own_ends_at_the_timeout,
            }
            shutdown: {
                a_running_load_gets_the_budget_and_is_stored,
                a_hung_load_is_ended_when_the_budget_is_over,
                who_waits_for_somebody_elses_load_is_told_at_once,
                a_load_that_waits_for_a_permit_is_refused_at_once,
                nothing_new_is_loaded_while_what_runs_has_its_budget,
                nothing_is_loaded_afterwards,
                what_is_in_process_memory_is_read_afterwards,
            }
            changes: {
                an_invalidate_during_a_load_keeps_its_value_out,
                an_expire_during_a_load_keeps_its_value_out,
                a_put_during_a_load_stays,
                a_put_of_an_absence_during_a_load_stays,
                a_caller_after_an_invalidate_loads_anew,
                a_caller_after_an_expire_loads_anew,
                a_caller_after_a_put_gets_what_was_put,
                a_caller_that_joined_an_overtaken_load_takes_the_next,
                an_invalidate_during_a_read_keeps_the_value_out_of_memory,
                a_put_during_a_read_keeps_the_old_value_out_of_memory,
                an_invalidate_during_a_refresh_keeps_its_value_out,
                an_expire_during_a_refresh_makes_way_for_another,
                an_invalidated_value_is_no_fallback,
                an_invalidated_value_is_not_offered_as_unmodified,
                an_invalidate_of_several_forgets_each,
                an_invalidate_of_several_overtakes_every_load,
                a_put_of_several_answers_for_each,
                an_invalidate_is_done_though_its_caller_leaves,
                a_put_is_done_though_its_caller_leaves,
                a_put_that_is_too_large_changes_nothing,
                a_put_that_has_no_form_changes_nothing,
                a_put_without_a_life_is_refused,
                a_put_leaves_nothing_in_process_memory,
                an_overwrite_takes_nothing_over,
                an_invalidate_of_an_unknown_id_is_done,
                an_expired_value_is_loaded_again,
                an_expired_value_is_there_if_the_load_fails,
                an_expired_value_that_is_not_kept_is_gone,
                expiring_a_stale_value_does_not_prolong_it,
            }
            matching: {
                what_matches_is_forgotten_and_nothing_else,
                what_has_ended_is_not_counted,
                an_absence_that_matches_is_forgotten,
                a_pattern_stays_in_its_space,
                odd_ids_match_as_their_callers_spell_them,
                more_than_are_looked_at_together_are_all_found,
                a_load_that_runs_is_overtaken_by_a_pattern,
                a_lease_is_lost_to_a_pattern,
                an_invalidate_by_pattern_is_done_though_its_caller_leaves,
                a_pattern_that_is_none_is_refused,
            }
            again: {
                what_a_lagging_replica_brought_is_gone_after_the_lag,
                tags_and_whole_spaces_are_invalidated_again_too,
                a_load_that_read_too_early_is_overtaken_while_it_runs,
                what_is_invalidated_often_is_so_again_after_each,
                only_what_was_invalidated_is_so_again,
                what_waits_is_done_at_once_when_the_process_shuts_down,
                a_lag_that_is_none_is_refused_by_name,
            }
            stale: {
                a_stale_value_is_loaded_in_front,
                a_stale_value_stands_in_when_there_is_no_permit,
                a_stale_value_stands_in_while_the_breaker_is_open,
                a_value_beyond_its_stale_life_is_gone,
                a_short_stale_life_does_not_shorten_the_fresh_one,
                a_refresh_under_way_makes_nobody_wait,
                a_failing_refresh_leaves_the_entry_as_it_is,
                after_a_failed_refresh_the_next_reader_tries_again,
                a_refresh_that_hangs_makes_way_for_another,
                patience_ends_with_the_stale_value_and_the_load_goes_on,
                patience_that_ends_is_no_abandonment,
                who_is_patient_enough_gets_the_new_value,
                patience_changes_nothing_without_a_stale_value,
                patience_also_ends_behind_somebody_elses_lease,
                a_loader_is_given_the_stale_value_and_its_validator,
                a_loader_behind_the_back_is_given_the_stale_value,
                a_loader_is_given_nothing_where_nothing_is_stale,
                a_value_that_was_not_modified_is_fresh_again,
                reading_hands_no_stale_value_out_where_none_is_asked_for,
                reading_hands_stale_values_out_where_they_are_wanted,
                stale_values_are_not_asked_for_where_none_are_kept,
            }
            early: {
                what_memory_has_is_replaced_before_its_end,
                what_the_store_has_is_replaced_before_its_end,
                nothing_is_replaced_before_its_time,
                ten_thousand_hits_of_what_is_due_make_one_refresh_and_wait_for_none,
                by_chance_a_value_is_replaced_in_the_second_half_of_its_life,
                what_was_put_is_replaced_early_by_what_other_loads_take,
                an_early_refresh_that_fails_costs_nobody_the_value,
                past_its_end_what_was_not_replaced_is_stale,
                who_only_reads_replaces_nothing,
                a_bound_loader_replaces_what_is_due,
                one_look_up_gets_the_lease_early_and_with_it_the_value,
                an_early_lease_that_is_dropped_goes_to_another,
                an_invalidate_during_an_early_refresh_keeps_its_value_out,
                what_was_not_modified_has_another_life,
                a_policy_that_makes_no_sense_is_refused_by_name,
            }
            adaptive: {
                what_is_read_more_lives_longer,
                what_is_read_more_lives_longer_without_process_memory_too,
                what_a_holder_of_a_lease_fills_lives_longer_too,
                a_life_that_is_given_does_not_adapt,
                what_adapts_has_jitter_too,
                bounds_that_make_no_sense_are_refused_by_name,
            }
            absence: {
                an_absence_is_remembered_for_its_own_life,
                an_absence_is_remembered_in_the_store_too,
                an_absence_is_no_miss,
                an_error_is_no_absence,
                a_cancelled_search_is_no_absence,
                a_caller_that_needs_a_value_passes_over_an_absence,
                a_caller_that_needs_a_value_loads_it_when_a_search_finds_none,
                a_caller_that_arrives_with_a_search_loads_when_that_finds_none,
                an_absence_is_not_remembered_unless_asked_for,
                an_old_value_does_not_survive_an_absence,
                a_refresh_that_finds_nothing_ends_the_stale_value,
                a_fresh_value_does_not_survive_an_absence_found_past_it,
                an_absence_can_be_put,
                an_absence_can_be_put_for_a_while,
                an_absence_without_a_life_is_not_put,
                values_that_may_be_none_are_refused,
                an_invalidate_forgets_an_absence,
                an_expire_forgets_an_absence,
                a_search_is_served_by_the_load_of_another,
                who_waits_behind_an_absence_gets_the_fill,
            }
            leases: {
                the_first_gets_the_lease_and_the_others_its_value,
                a_thousand_who_wait_for_a_fill_wake_at_once,
                a_fill_carries_what_is_told_of_the_value,
                who_waits_in_vain_is_told_when_to_ask_again,
                who_does_not_wait_is_answered_at_once,
                a_dropped_lease_goes_to_the_next,
                a_released_lease_goes_to_the_next,
                a_failure_is_told_to_those_who_wait_and_those_who_come,
                after_a_failure_the_stale_value_is_a_hit,
                a_token_carries_the_lease_elsewhere,
                a_resumed_lease_is_not_given_back_when_dropped,
                a_token_fills_once_and_for_its_id_alone,
                after_a_value_that_is_too_large_everybody_gets_a_lease,
                those_who_waited_for_a_value_that_is_too_large_get_leases,
                an_unshared_lease_can_be_carried_too,
                an_unshared_lease_ends_without_a_trace,
                a_loading_caller_is_served_by_the_fill_of_a_lease,
                a_loading_caller_takes_over_from_a_dropped_lease,
                a_lookup_waits_for_a_load,
                a_lookup_hears_of_a_failed_load,
                a_lookup_gets_the_lease_of_a_load_that_was_cancelled,
                a_load_and_a_lookup_that_begin_together_make_one_load,
                an_absence_is_told_to_those_who_wait,
                an_absence_without_a_life_gives_the_lease_back,
                a_holder_is_given_the_stale_value,
                one_refreshes_and_the_others_hit_the_stale_value,
                where_stale_values_are_for_failures_the_others_wait,
                who_waits_in_vain_gets_the_stale_value,
                a_fresh_lookup_passes_over_a_fresh_entry,
                a_fresh_lookup_waits_for_a_lease_and_takes_it,
            }
            lost: {
                an_invalidate_takes_the_lease_away,
                an_expire_takes_the_lease_away,
                a_put_takes_the_lease_away_and_stays,
                a_lease_that_was_taken_away_is_lost_for_every_purpose,
                an_invalidate_hands_the_lease_to_the_next,
                a_lease_that_ran_out_is_lost,
                a_lease_that_ran_out_goes_to_one_who_waits,
                dropping_a_lease_that_ran_out_takes_nothing_away,
                renewing_keeps_the_lease,
                renewing_a_lost_lease_revives_nothing,
                renewing_never_shortens_a_lease,
            }
            lives: {
                the_longest_life_does_not_overflow,
                the_longest_spans_do_not_overflow,
                a_life_that_no_store_can_hold_is_refused_by_name,
                a_jitter_that_is_no_share_is_refused,
                the_shortest_life_is_one,
                a_life_of_thirty_days_ends_on_its_day,
                a_value_with_a_life_of_its_own_keeps_to_it,
                a_value_keeps_its_own_stale_life,
                a_value_without_a_life_is_handed_out_and_not_stored,
                a_value_that_is_not_to_be_stored_is_handed_to_all_who_wait,
                process_memory_ends_before_the_store,
                process_memory_can_be_turned_off,
                process_memory_holds_nothing_past_its_fresh_life,
                what_is_stored_together_does_not_end_together,
                an_entry_tells_its_age_and_what_it_has_left,
                whatever_has_ended_is_swept_out_of_memory,
            }
            limits: {
                no_more_loads_run_than_the_space_allows,
                who_gets_no_permit_in_time_is_told,
                after_an_overload_the_next_caller_loads,
                a_permit_comes_free_when_a_load_hangs_or_panics,
                loads_without_a_lease_are_bounded,
                an_origin_that_fails_is_left_alone,
                leases_that_fail_open_the_breaker_for_leases_too,
                an_open_breaker_keeps_nobody_from_what_is_stored,
                failures_far_apart_leave_the_breaker_closed,
                callers_of_one_failing_load_count_once,
                a_breaker_holds_up_none_of_a_hundred_loads,
                after_the_pause_one_load_probes_the_origin,
                a_probe_that_fails_opens_the_breaker_again,
                a_value_that_is_too_large_is_handed_out_and_evicts_nothing,
                a_value_of_exactly_the_largest_size_is_stored,
                a_value_without_a_form_is_handed_out_and_not_stored,
                an_entry_of_another_shape_is_loaded_anew_once,
                an_entry_of_another_shape_is_a_miss,
                who_waits_behind_an_unreadable_entry_gets_the_fill,
                an_unreadable_entry_is_no_fallback,
                a_space_is_built_once,
                a_space_that_was_refused_can_be_built_aright,
                a_misspelt_space_is_refused_with_the_remedy,
                limits_that_allow_nothing_are_refused_by_name,
            }
            tags: {
                an_invalidated_tag_takes_all_its_values_and_no_others,
                clearing_takes_all_of_the_space_and_of_no_other,
                what_is_stored_afterwards_stays,
                a_tagged_value_is_a_hit_in_process_memory,
                an_invalidated_tag_during_a_load_keeps_its_value_out,
                clearing_during_a_load_keeps_its_value_out,
                a_caller_after_an_invalidated_tag_is_not_served_by_a_load_from_before,
                what_is_not_stored_serves_nobody_who_comes_after_its_tag_was_invalidated,
                an_invalidated_tag_during_a_refresh_keeps_its_value_out,
                an_invalidated_value_is_no_fallback_whatever_invalidated_it,
                what_is_invalidated_while_its_load_fails_is_no_fallback,
                an_invalidated_value_is_not_offered_as_unmodified_whatever_invalidated_it,
                what_was_not_modified_is_stored_as_old_as_its_load,
                what_was_not_modified_keeps_its_tags,
                a_lease_carries_the_number_from_which_its_value_is_told_to_be_old,
                every_odd_tag_is_one_of_its_own,
                several_tags_are_invalidated_at_once,
                more_tags_than_a_value_can_have_are_refused_with_the_bound,
                the_numbers_of_a_value_last_as_long_as_it_does,
                an_invalidated_tag_is_done_though_its_caller_leaves,
            }
            batches: {
                a_batch_is_one_call_for_what_no_level_has,
                what_somebody_else_loads_is_waited_for_and_not_asked,
                what_somebody_else_did_not_load_comes_in_a_later_call,
                each_id_of_a_batch_has_its_own_answer,
                a_call_that_fails_does_so_for_each_of_its_ids,
                a_call_that_panics_does_so_for_each_of_its_ids_and_the_next_works,
                a_call_that_hangs_ends_for_each_of_its_ids,
                an_id_that_is_invalidated_during_the_call_is_stored_nowhere_and_others_are,
                a_batch_takes_one_permit,
                a_call_that_nobody_waits_for_goes_on_and_is_stored,
                a_call_is_cancelled_when_nobody_waits_for_any_of_its_ids,
                stale_values_are_refreshed_by_the_call_that_loads_what_is_missing,
                a_batch_reads_what_was_put_under_whatever_id,
                a_loader_is_asked_for_each_odd_id_once,
                one_loader_loads_several_ids_each_with_its_own_answer,
                what_fails_in_one_call_is_one_failure_to_the_breaker,
                calls_that_fail_open_the_breaker_and_one_id_probes,
            }
            warm: {
                what_is_not_fresh_is_loaded_ahead,
                what_is_stale_is_loaded_ahead_though_it_would_be_an_answer,
                an_id_that_fails_stops_no_warm_up,
                a_warm_up_keeps_few_loads_under_way_and_tells_how_far_it_is,
                a_warm_up_keeps_its_pace,
                a_warm_up_that_is_dropped_loads_nothing_more,
            }
            ids: {
                every_odd_id_has_a_value_of_its_own,
                a_put_under_an_odd_id_changes_that_alone,
                an_invalidate_of_an_odd_id_forgets_that_alone,
                a_loader_is_given_the_id_as_the_caller_spelled_it,
                no_two_ids_share_a_value,
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp;
