//! Topics: who hears what, and what is kept for those who come later.

pub(crate) mod durable;
pub(crate) mod groups;
pub(crate) mod handlers;
pub(crate) mod live;

use std::{future::Future, pin::pin, time::Duration};

use forebay::topic::{Durable, Heard, Message, Retention, Subscription, Topic};

use crate::rig::Rig;

/// For how long the topics of these cases keep their messages.
const KEEP: Duration = Duration::from_secs(60);

fn topic(rig: &impl Rig) -> Topic {
    rig.forebay().topic("prices").build().expect("the name fits")
}

fn durable(rig: &impl Rig) -> Durable {
    keeping(rig, 10_000)
}

fn keeping(rig: &impl Rig, max_len: u64) -> Durable {
    let retention = Retention { max_len, keep_for: KEEP };
    rig.forebay().topic("orders").durable(retention).expect("the options fit")
}

/// What comes next, which must need no time but that of a server.
async fn next(subscription: &mut Subscription) -> Heard {
    let next = tokio::time::timeout(Duration::from_secs(10), subscription.next()).await;
    next.expect("something is heard").expect("nobody shuts down")
}

/// The text of a message, or that there was none.
fn said(heard: &Heard) -> String {
    match heard {
        Heard::Message(message) => message.text().expect("these cases publish text").to_owned(),
        Heard::Deaf(deaf) => format!("{deaf:?}"),
    }
}

async fn message(subscription: &mut Subscription) -> Message {
    match next(subscription).await {
        Heard::Message(message) => message,
        other => panic!("no message: {other:?}"),
    }
}

/// What is heard next.
async fn text(subscription: &mut Subscription) -> String {
    said(&next(subscription).await)
}

async fn texts(subscription: &mut Subscription, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    for _ in 0..count {
        texts.push(text(subscription).await);
    }
    texts
}

/// Asserts that nothing is heard that needs no time.
async fn hears_nothing(rig: &impl Rig, subscription: &mut Subscription) {
    assert_eq!(while_settling(rig, subscription.next()).await, None);
}

/// What `work` ends with although no time passes, if it does.
async fn while_settling<T>(rig: &impl Rig, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    for _ in 0..3 {
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            () = rig.settle() => {}
        }
    }
    None
}

/// The numbers from 0, as text.
fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp_topics {
    ($rig:ty) => {
        mod topics {
            crate::cases::topics::stamp! { $rig;
                live: {
                    a_message_reaches_all_who_subscribe_and_nobody_else,
                    messages_come_in_their_order,
                    topics_do_not_hear_each_other,
                    a_slow_subscriber_is_told_how_many_it_missed_and_holds_up_nobody,
                    whoever_goes_away_is_missed_by_nobody,
                    what_no_text_holds_is_heard_as_it_is,
                    what_could_not_work_is_refused_by_name,
                    a_shutdown_ends_what_is_heard,
                }
                groups: {
                    each_message_goes_to_one_of_the_consumers,
                    every_group_is_given_every_message,
                    a_group_begins_with_what_is_kept_or_with_what_comes,
                    what_nobody_acknowledges_comes_again_to_another,
                    what_is_renewed_stays_with_its_consumer,
                    what_a_consumer_had_when_it_ended_comes_first,
                    what_fails_comes_again_after_a_while_and_is_put_aside_in_the_end,
                    what_nobody_settles_is_put_aside_in_the_end,
                    ten_thousand_that_were_left_behind_all_come_again,
                    a_consumer_that_leaves_hands_over_what_it_has,
                    a_consumer_that_leaves_waits_for_what_is_being_done,
                    a_delivery_that_is_dropped_comes_again,
                    what_is_no_longer_kept_blocks_nobody,
                    a_late_end_is_an_end_and_a_second_one_is_none,
                    a_call_that_is_dropped_at_any_await_loses_nothing,
                    a_topic_that_ended_takes_its_groups_along_and_they_begin_anew,
                    what_could_not_work_is_refused_by_name,
                    a_shutdown_ends_the_waiting_and_hands_over,
                    a_shutdown_hands_over_what_nobody_settles,
                }
                handlers: {
                    so_many_are_handled_at_a_time_and_each_once,
                    a_handler_that_fails_or_panics_is_asked_again,
                    a_handler_keeps_its_message_for_as_long_as_it_runs,
                    a_shutdown_waits_for_what_is_being_handled,
                }
                durable: {
                    whoever_comes_later_reads_on_where_it_was,
                    whoever_begins_anew_is_given_all_that_is_kept,
                    whoever_subscribes_now_is_given_what_comes_from_now_on,
                    thousands_come_once_and_in_their_order_whoever_reads_when,
                    a_slow_subscriber_misses_nothing_that_is_kept,
                    a_call_that_is_dropped_at_any_await_loses_nothing,
                    what_is_no_longer_kept_is_told_first,
                    a_topic_that_is_silent_ends_and_goes_on_without_a_gap,
                    whoever_slept_over_the_end_of_a_topic_is_told,
                    a_subscriber_that_shares_a_tail_hears_of_what_came_before_it,
                    what_could_not_work_is_refused_by_name,
                    a_shutdown_ends_what_is_heard,
                }
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::topics::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp_topics as stamp;
