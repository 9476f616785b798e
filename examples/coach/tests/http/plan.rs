//! One plan of a runner at a time.

use std::time::Duration;

use forebay_rig::Redis;
use futures::{StreamExt, stream::FuturesUnordered};
use reqwest::Method;
use serde_json::json;
use tokio::{join, time::sleep};

use crate::{
    answer::Answer,
    program::{Model, Start, soon, statuses},
    records::Records,
};

#[tokio::test]
async fn of_twenty_requests_at_once_one_is_drawn_and_the_others_are_told_meanwhile_when_to_come_back() {
    // So long that nobody who waits for the plan is told anything.
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(600_000));
    let coaches = [(); 2].map(|()| Start::over(&redis, &records, &model).run());
    let mut answers = (0..20).map(|n| coaches[n % 2].plan("runner-7")).collect::<FuturesUnordered<_>>();
    let refused: Vec<_> = soon(answers.by_ref().take(19).collect()).await;
    for refused in &refused {
        assert!(refused.status == 429 && (1..=5).contains(&refused.retry_after()), "{refused:?}");
    }
    let is_asked = async {
        while model.calls().await == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    soon(is_asked).await;
    assert_eq!((refused.len(), model.calls().await), (19, 1));
}

#[tokio::test]
async fn the_model_is_not_paid_for_a_goal_that_is_none() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    for goal in ["", " ", &"far ".repeat(1_000)] {
        let wish = json!({ "goal": goal });
        let call = coach.call(Method::POST, "/generate-plan", "runner-7", &wish);
        let refused = Answer::to(call).await.unwrap();
        assert!(refused.status == 400 && refused.text("detail").contains("goal"), "{refused:?}");
    }
    assert_eq!(model.calls().await, 0);
}

#[tokio::test]
async fn two_runners_have_theirs_drawn_at_the_same_time() {
    let (records, model) = (Records::none(), Model::taking(300));
    let coach = Start::alone(&records, &model).run();
    let (seven, eight) = join!(coach.plan("runner-7"), coach.plan("runner-8"));
    assert_eq!(statuses(&[seven, eight]), [201, 201]);
}

#[tokio::test]
async fn a_plan_is_written_anew_under_a_larger_fence() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let (first, second) = (coach.plan("runner-7").await, coach.plan("runner-7").await);
    assert_eq!([&first, &second].map(|plan| plan.body["revision"].as_u64().unwrap()), [1, 2]);
    assert!(first.body["fence"].as_u64() < second.body["fence"].as_u64());
}

// L7: a writer whose lock somebody else has had since.
#[tokio::test]
async fn a_plan_is_not_overwritten_under_an_older_fence() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    assert_eq!(coach.plan("runner-7").await.status, 201);
    records.change("UPDATE plan SET body = 'of a later holder', fence = fence + 1000000000000").await;
    assert_eq!(coach.plan("runner-7").await.status, 409);
    assert_eq!(records.count("SELECT count(*) FROM plan WHERE body = 'of a later holder'").await, 1);
}

#[tokio::test]
async fn when_the_model_fails_no_plan_is_written_and_the_next_request_is_not_kept_out() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    model.fail(600).await;
    for _ in 0..2 {
        assert_eq!(coach.plan("runner-7").await.status, 503);
    }
    assert_eq!(records.count("SELECT count(*) FROM plan").await, 0);
}
