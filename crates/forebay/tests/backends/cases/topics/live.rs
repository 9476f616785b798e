//! What is heard by those who listen.

use forebay::{
    ErrorKind,
    topic::{Deaf, Heard, MOST_BYTES},
};

use super::{hears_nothing, message, next, numbers, text, texts, topic};
use crate::rig::{Rig, SECOND};

pub(crate) async fn a_message_reaches_all_who_subscribe_and_nobody_else(rig: impl Rig) {
    let topic = topic(&rig);
    // Nodes of a cluster pass messages on in their own time: it has come once somebody has heard it.
    let mut early = topic.subscribe().await;
    topic.publish("before").await.unwrap();
    assert_eq!(text(&mut early).await, "before");
    let (mut one, mut other) = (topic.subscribe().await, topic.subscribe().await);
    topic.publish("a").await.unwrap();
    let mut late = topic.subscribe().await;
    topic.publish("b").await.unwrap();
    assert_eq!(texts(&mut one, 2).await, ["a", "b"]);
    assert_eq!(texts(&mut other, 2).await, ["a", "b"]);
    // It may hear what was on its way when it came, and nothing from before.
    let first = text(&mut late).await;
    assert!(first == "b" || (first == "a" && text(&mut late).await == "b"), "{first}");
    hears_nothing(&rig, &mut one).await;
}

pub(crate) async fn messages_come_in_their_order(rig: impl Rig) {
    let topic = topic(&rig);
    let mut heard = topic.subscribe().await;
    for number in numbers(500) {
        topic.publish(number).await.unwrap();
    }
    assert_eq!(texts(&mut heard, 500).await, numbers(500));
}

pub(crate) async fn topics_do_not_hear_each_other(rig: impl Rig) {
    let other = rig.forebay().topic("prices:other").build().unwrap();
    let (mut prices, mut others) = (topic(&rig).subscribe().await, other.subscribe().await);
    other.publish("other").await.unwrap();
    topic(&rig).publish("price").await.unwrap();
    assert_eq!((text(&mut prices).await, text(&mut others).await), ("price".into(), "other".into()));
    hears_nothing(&rig, &mut prices).await;
    hears_nothing(&rig, &mut others).await;
}

pub(crate) async fn a_slow_subscriber_is_told_how_many_it_missed_and_holds_up_nobody(rig: impl Rig) {
    let topic = topic(&rig);
    let (mut slow, mut quick) = (topic.subscribe().await, topic.subscribe().await);
    for number in numbers(3000) {
        topic.publish(&number).await.unwrap();
        assert_eq!(text(&mut quick).await, number);
    }
    let Heard::Deaf(Deaf::Missed(Some(missed))) = next(&mut slow).await else {
        panic!("it is not told that it was too slow");
    };
    let missed = usize::try_from(missed).unwrap();
    assert!((1..3000).contains(&missed), "{missed}");
    assert_eq!(texts(&mut slow, 3000 - missed).await, numbers(3000)[missed..]);
    hears_nothing(&rig, &mut slow).await;
}

pub(crate) async fn whoever_goes_away_is_missed_by_nobody(rig: impl Rig) {
    let topic = topic(&rig);
    for round in 0..20 {
        let (gone, mut stays) = (topic.subscribe().await, topic.subscribe().await);
        drop(gone);
        topic.publish(round.to_string()).await.unwrap();
        assert_eq!(text(&mut stays).await, round.to_string());
    }
    // Nobody is left; that is no error.
    topic.publish("to nobody").await.unwrap();
}

pub(crate) async fn what_no_text_holds_is_heard_as_it_is(rig: impl Rig) {
    let topic = topic(&rig);
    let mut heard = topic.subscribe().await;
    let odd: [&[u8]; 4] = [b"", b"\0\r\n", b"\xff\xfe", &vec![b'x'; MOST_BYTES]];
    for payload in odd {
        topic.publish(payload).await.unwrap();
        let message = message(&mut heard).await;
        assert_eq!((&message.payload[..], message.id), (payload, None));
    }
}

pub(crate) async fn what_could_not_work_is_refused_by_name(rig: impl Rig) {
    for name in ["", "Prices", "a b", "a*", &"a".repeat(65)] {
        let refused = rig.forebay().topic(name).build().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Config);
        assert!(refused.to_string().contains(&name.chars().take(8).collect::<String>()), "{refused}");
    }
    let large = topic(&rig).publish(vec![0; MOST_BYTES + 1]).await.unwrap_err();
    assert_eq!(large.kind(), ErrorKind::TooLarge);
    assert!(large.to_string().contains("65537"), "{large}");
}

pub(crate) async fn a_shutdown_ends_what_is_heard(rig: impl Rig) {
    let topic = topic(&rig);
    let mut heard = topic.subscribe().await;
    rig.forebay().shutdown(SECOND).await;
    assert_eq!(heard.next().await, None);
    assert_eq!(topic.publish("late").await.unwrap_err().kind(), ErrorKind::Unavailable);
}
