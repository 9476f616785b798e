//! One code a minute for an address.

use forebay_rig::Redis;

use crate::{
    answer::statuses,
    program::{alone, at_once, over},
    records::Records,
};

#[tokio::test]
async fn the_second_code_within_a_minute_is_refused_with_when_to_come_back() {
    let records = Records::none();
    let program = alone(&records).run();
    assert_eq!(program.code("ada@example.org").await.status, 202);
    let refused = program.code("ada@example.org").await;
    assert_eq!(refused.status, 429);
    assert!((50..=60).contains(&refused.retry_after()), "{}", refused.retry_after());
    assert_eq!(program.code("bob@example.org").await.status, 202);
    assert_eq!(records.count("mail").await, 2);
}

#[tokio::test]
async fn of_twenty_clicks_at_once_one_sends_a_code() {
    let records = Records::none();
    let program = alone(&records).run();
    let spellings = ["ada@example.org", " Ada@Example.org"];
    let answers = at_once(20, async |n| program.code(spellings[n % 2]).await).await;
    assert_eq!(statuses(&answers).iter().filter(|status| **status == 202).count(), 1);
    assert_eq!(records.count("mail").await, 1);
}

#[tokio::test]
async fn what_is_no_address_is_refused_and_no_code_sent() {
    let records = Records::none();
    let program = alone(&records).run();
    let long = format!("ada@{}.org", "x".repeat(250));
    for text in ["", " ", "@", "ada", "ada@", "@example.org", "a da@example.org", "a@b@example.org", &long] {
        assert_eq!(program.code(text).await.status, 400, "{text:?}");
    }
    assert_eq!(records.count("mail").await, 0);
}

#[tokio::test]
async fn nobody_waits_for_a_code_that_could_not_be_sent() {
    let records = Records::none();
    let program = alone(&records).run();
    let answers = [program.code("ada@nowhere.invalid").await, program.code("ada@nowhere.invalid").await];
    assert_eq!(statuses(&answers), [502, 502]);
}

#[tokio::test]
async fn a_second_instance_knows_of_the_code() {
    let (redis, records) = (Redis::start(), Records::none());
    let [first, second] = [over(&redis, &records).run(), over(&redis, &records).run()];
    assert_eq!(first.code("ada@example.org").await.status, 202);
    assert_eq!(second.code("ada@example.org").await.status, 429);
}

#[tokio::test]
async fn without_the_redis_that_it_was_given_no_code_is_sent() {
    let (redis, records) = (Redis::start(), Records::none());
    let program = over(&redis, &records).run();
    redis.kill();
    let refused = program.code("ada@example.org").await;
    assert_eq!((refused.status.as_u16(), refused.retry_after()), (503, 1));
    assert_eq!(records.count("mail").await, 0);
}
