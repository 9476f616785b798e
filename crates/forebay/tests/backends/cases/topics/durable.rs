//! What is kept for those who come later.

use std::time::Duration;

use forebay::{
    ErrorKind,
    topic::{Deaf, Heard, Id, Retention},
};
use futures::FutureExt;

use super::{KEEP, durable, hears_nothing, keeping, message, next, numbers, said, text, texts};
use crate::{
    polls::within_polls,
    rig::{Rig, SECOND},
};

pub(crate) async fn whoever_comes_later_reads_on_where_it_was(rig: impl Rig) {
    let orders = durable(&rig);
    let mut ids = Vec::new();
    for number in numbers(10) {
        ids.push(orders.publish(number).await.unwrap());
    }
    assert!(ids.is_sorted());
    for seen in [0, 4, 8] {
        let mut rest = orders.subscribe_from(ids[seen]);
        for number in &numbers(10)[seen + 1..] {
            let message = message(&mut rest).await;
            assert_eq!(message.text(), Some(&**number));
            assert_eq!(message.id, Some(ids[number.parse::<usize>().unwrap()]));
        }
        hears_nothing(&rig, &mut rest).await;
    }
    let mut rest = orders.subscribe_from(ids[9]);
    let new = orders.publish("new").await.unwrap();
    assert_eq!(message(&mut rest).await.id, Some(new));
}

pub(crate) async fn whoever_begins_anew_is_given_all_that_is_kept(rig: impl Rig) {
    let orders = durable(&rig);
    let mut early = orders.subscribe_from(Id::BEGINNING);
    hears_nothing(&rig, &mut early).await;
    for number in numbers(1000) {
        orders.publish(number).await.unwrap();
    }
    let mut late = orders.subscribe_from(Id::BEGINNING);
    assert_eq!(texts(&mut early, 1000).await, numbers(1000));
    assert_eq!(texts(&mut late, 1000).await, numbers(1000));
}

pub(crate) async fn whoever_subscribes_now_is_given_what_comes_from_now_on(rig: impl Rig) {
    let orders = durable(&rig);
    let mut first = orders.subscribe().await;
    orders.publish("a").await.unwrap();
    let mut second = orders.subscribe().await;
    orders.publish("b").await.unwrap();
    assert_eq!(texts(&mut first, 2).await, ["a", "b"]);
    assert_eq!(text(&mut second).await, "b");
    hears_nothing(&rig, &mut second).await;
}

pub(crate) async fn thousands_come_once_and_in_their_order_whoever_reads_when(rig: impl Rig) {
    let orders = durable(&rig);
    let (mut steady, mut seen) = (orders.subscribe_from(Id::BEGINNING), Id::BEGINNING);
    let mut all = Vec::new();
    for (at, number) in numbers(3000).into_iter().enumerate() {
        orders.publish(&number).await.unwrap();
        if at % 3 == 0 {
            all.extend(steady.next().now_or_never().map(|heard| said(&heard.unwrap())));
        }
        // Here is somebody who comes, reads a few and goes away.
        if at % 100 == 99 {
            let mut passing = orders.subscribe_from(seen);
            let message = message(&mut passing).await;
            assert!(message.id > Some(seen));
            seen = message.id.unwrap();
        }
    }
    all.extend(texts(&mut steady, 3000 - all.len()).await);
    assert_eq!(all, numbers(3000));
    hears_nothing(&rig, &mut steady).await;
}

pub(crate) async fn a_slow_subscriber_misses_nothing_that_is_kept(rig: impl Rig) {
    let orders = durable(&rig);
    let mut slow = orders.subscribe().await;
    let mut quick = orders.subscribe().await;
    for number in numbers(3000) {
        orders.publish(&number).await.unwrap();
        assert_eq!(text(&mut quick).await, number);
    }
    assert_eq!(texts(&mut slow, 3000).await, numbers(3000));
}

pub(crate) async fn a_call_that_is_dropped_at_any_await_loses_nothing(rig: impl Rig) {
    let orders = durable(&rig);
    let mut heard = orders.subscribe_from(Id::BEGINNING);
    let mut all = Vec::new();
    for polls in 0..100 {
        orders.publish(polls.to_string()).await.unwrap();
        if let Some(next) = within_polls(polls % 5, heard.next()).await {
            all.push(said(&next.unwrap()));
        }
    }
    for _ in all.len()..100 {
        all.push(said(&next(&mut heard).await));
    }
    assert_eq!(all, numbers(100));
}

// S3: what is trimmed away is not passed over in silence.
pub(crate) async fn what_is_no_longer_kept_is_told_first(rig: impl Rig) {
    let orders = keeping(&rig, 10);
    let seen = orders.publish("seen").await.unwrap();
    // Over Redis, a hundred go at a time.
    for number in numbers(1000) {
        orders.publish(number).await.unwrap();
    }
    let mut late = orders.subscribe_from(seen);
    let Heard::Deaf(Deaf::Missed(Some(missed))) = next(&mut late).await else {
        panic!("it is not told what it missed");
    };
    let missed = usize::try_from(missed).unwrap();
    assert!((700..=990).contains(&missed), "{missed}");
    assert_eq!(texts(&mut late, 1000 - missed).await, numbers(1000)[missed..]);
    hears_nothing(&rig, &mut late).await;
}

pub(crate) async fn a_topic_that_is_silent_ends_and_goes_on_without_a_gap(rig: impl Rig) {
    let orders = durable(&rig);
    let mut heard = orders.subscribe().await;
    for number in numbers(5) {
        orders.publish(&number).await.unwrap();
        assert_eq!(text(&mut heard).await, number);
    }
    rig.pass(KEEP / 2).await;
    hears_nothing(&rig, &mut heard).await;
    rig.pass(KEEP / 2 + SECOND).await;
    let mut anew = orders.subscribe_from(Id::BEGINNING);
    hears_nothing(&rig, &mut anew).await;
    hears_nothing(&rig, &mut heard).await;
    orders.publish("new").await.unwrap();
    assert_eq!((text(&mut heard).await, text(&mut anew).await), ("new".into(), "new".into()));
}

pub(crate) async fn whoever_slept_over_the_end_of_a_topic_is_told(rig: impl Rig) {
    let orders = durable(&rig);
    let seen = orders.publish("seen").await.unwrap();
    orders.publish("unseen").await.unwrap();
    rig.pass(KEEP + SECOND).await;
    let mut late = orders.subscribe_from(seen);
    assert_eq!(next(&mut late).await, Heard::Deaf(Deaf::Missed(None)));
    orders.publish("new").await.unwrap();
    assert_eq!(text(&mut late).await, "new");
}

pub(crate) async fn a_subscriber_that_shares_a_tail_hears_of_what_came_before_it(rig: impl Rig) {
    let orders = durable(&rig);
    for round in 0..50 {
        let first = orders.publish(format!("{round}")).await.unwrap();
        // The tail of this process begins somewhere between these.
        let mut heard = orders.subscribe_from(first);
        let second = orders.publish("between").await.unwrap();
        assert_eq!(message(&mut heard).await.id, Some(second));
        hears_nothing(&rig, &mut heard).await;
    }
}

pub(crate) async fn what_could_not_work_is_refused_by_name(rig: impl Rig) {
    let day = Duration::from_secs(24 * 3600);
    for (retention, name) in [
        (Retention { max_len: 0, keep_for: day }, "max_len"),
        (Retention { max_len: u64::MAX, keep_for: day }, "max_len"),
        (Retention { max_len: 1, keep_for: SECOND }, "keep_for"),
        (Retention { max_len: 1, keep_for: Duration::MAX }, "keep_for"),
    ] {
        let refused = rig.forebay().topic("orders").durable(retention).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Config);
        assert!(refused.to_string().contains(name), "{refused}");
    }
}

pub(crate) async fn a_shutdown_ends_what_is_heard(rig: impl Rig) {
    let orders = durable(&rig);
    let mut heard = orders.subscribe().await;
    rig.forebay().shutdown(SECOND).await;
    assert_eq!(heard.next().await, None);
    assert_eq!(orders.publish("late").await.unwrap_err().kind(), ErrorKind::Unavailable);
}
