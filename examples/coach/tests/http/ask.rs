//! The model is asked once for each question of each runner, and an old answer is better than none.

use std::time::Duration;

use forebay_rig::Redis;
use tokio::time::sleep;

use crate::{
    answer::Answer,
    program::{Coach, Model, Start, at_once, soon, statuses},
    records::Records,
};

#[tokio::test]
async fn a_hundred_runners_with_one_question_ask_the_model_once_each_however_often_they_ask() {
    let (records, model) = (Records::none(), Model::taking(300));
    let coach = Start::alone(&records, &model).run();
    let answers =
        at_once(100, async |n| coach.ask(&format!("runner-{}", 1 + n % 10), "How fast?").await).await;
    assert!(statuses(&answers).iter().all(|status| *status == 200));
    assert_eq!(model.calls().await, 10);
}

#[tokio::test]
async fn an_answer_says_where_it_came_from() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let (first, second) =
        (coach.ask("runner-7", "How fast?").await, coach.ask("runner-7", " How   fast? ").await);
    assert_eq!((first.text("source"), first.header("cache-status")), ("model", "coach; fwd=miss"));
    assert_eq!(
        (second.text("source"), second.header("cache-status")),
        ("memory", "coach; hit; detail=memory")
    );
    assert_eq!(first.text("answer"), second.text("answer"));
}

#[tokio::test]
async fn when_the_model_fails_an_old_answer_is_given_and_marked() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).flags(&["--fresh-for", "1"]).run();
    let before = coach.ask("runner-7", "How fast?").await;
    assert_eq!(before.body["degraded"], false);
    model.fail(600).await;
    // What was fresh for a second, and a tenth by jitter, is not any more.
    sleep(Duration::from_millis(1200)).await;
    let after = coach.ask("runner-7", "How fast?").await;
    assert_eq!(
        (after.status, after.body["degraded"].as_bool(), after.text("source")),
        (200, Some(true), "stale")
    );
    assert_eq!(after.header("cache-status"), "coach; hit; ttl=0; detail=stale");
    assert_eq!(after.text("answer"), before.text("answer"));
}

/// The answer once the instance itself remembers it, which it does as soon as Redis has it.
async fn remembered(coach: &Coach, question: &str) -> Answer {
    loop {
        let answer = coach.ask("runner-7", question).await;
        if answer.text("source") == "memory" {
            return answer;
        }
    }
}

#[tokio::test]
async fn when_redis_is_gone_as_well_an_old_answer_is_marked_all_the_same() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let coach = Start::over(&redis, &records, &model).flags(&["--fresh-for", "1"]).run();
    let before = soon(remembered(&coach, "How fast?")).await;
    model.fail(600).await;
    redis.kill();
    // As above.
    sleep(Duration::from_millis(1200)).await;
    let after = coach.ask("runner-7", "How fast?").await;
    assert_eq!((after.status, after.text("answer")), (200, before.text("answer")), "{after:?}");
    assert_eq!((after.body["degraded"].as_bool(), after.text("source")), (Some(true), "stale"));
    assert_eq!(after.header("cache-status"), "coach; hit; ttl=0; detail=stale");
}

#[tokio::test]
async fn when_the_model_fails_and_there_is_no_old_answer_a_client_is_asked_back() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    model.fail(600).await;
    let answer = coach.ask("runner-7", "How fast?").await;
    assert_eq!((answer.status, answer.retry_after()), (503, 1));
    assert_eq!(answer.header("content-type"), "application/problem+json");
}

#[tokio::test]
async fn a_model_that_works_again_is_asked_again() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    model.fail(1).await;
    assert_eq!(coach.ask("runner-7", "How fast?").await.status, 503);
    let works = async {
        while coach.ask("runner-7", "How fast?").await.status != 200 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    soon(works).await;
}

#[tokio::test]
async fn without_a_cache_the_model_is_asked_each_time() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).flags(&["--without-cache"]).run();
    for _ in 0..3 {
        assert_eq!(coach.ask("runner-7", "How fast?").await.text("source"), "model");
    }
    assert_eq!(model.calls().await, 3);
}

#[tokio::test]
async fn what_is_no_question_is_refused_with_what_to_send() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let long = "far ".repeat(1_000);
    for question in ["", " ", &long] {
        assert_eq!(coach.ask("runner-7", question).await.status, 400);
    }
    let none = coach.call(reqwest::Method::POST, "/ask", "runner-7", &serde_json::json!(7));
    let refused = Answer::to(none).await.unwrap();
    assert!(
        refused.status == 400 && refused.text("detail").contains("How fast should my long run be?"),
        "{refused:?}"
    );
}
