//! One plan at a time, and none written by somebody whose lock is not the last one.

use std::time::Duration;

use forebay_rig::{Redis, unless_starved};
use nix::sys::signal::Signal;
use tokio::{join, runtime::Runtime, time::sleep};

use crate::{
    answer::statuses,
    program::{alone, at_once, over},
    records::Records,
};

#[tokio::test]
async fn twenty_wishes_for_one_plan_have_it_drawn_once_by_one_of_two_instances() {
    let (redis, records) = (Redis::start(), Records::none());
    let programs = [over(&redis, &records).run(), over(&redis, &records).run()];
    let answers = at_once(20, async |n| programs[n % 2].plan("swim").await).await;
    assert!(statuses(&answers).iter().all(|status| *status == 200));
    assert_eq!(programs[0].get("", "/plans/42").await["revision"], 1);
}

#[tokio::test]
async fn another_goal_has_the_plan_drawn_anew_under_a_larger_fence() {
    let records = Records::none();
    let program = alone(&records).run();
    let mut fences = Vec::new();
    for goal in ["swim", "ride"] {
        let plan = program.plan(goal).await.body;
        assert_eq!(plan, program.get("", "/plans/42").await);
        fences.push(plan["fence"].as_u64().unwrap());
    }
    assert!(fences[0] < fences[1], "{fences:?}");
}

// L7: a writer whose lock somebody else has had since.
#[tokio::test]
async fn a_plan_is_not_overwritten_under_an_older_fence() {
    let records = Records::none();
    let program = alone(&records).run();
    assert_eq!(program.plan("swim").await.status, 200);
    records.change("UPDATE plan SET steps = 'of a later holder', fence = fence + 1000000000000").await;
    assert_eq!(program.plan("ride").await.status, 409);
    assert_eq!(program.get("", "/plans/42").await["steps"], "of a later holder");
}

/// Waits until somebody draws.
async fn is_drawn(redis: &Redis) {
    while redis.call(&["EXISTS", "lock:once:{plan:42}"]) != "1" {
        sleep(Duration::from_millis(5)).await;
    }
}

// L3: the holder is stopped for longer than its lock lives.
#[test]
fn an_instance_that_was_stopped_writes_nothing_once_another_has() {
    // On a machine that stands still for two seconds, the other one has lost its lock as well.
    unless_starved(|| Runtime::new().unwrap().block_on(stop_and_overtake()));
}

async fn stop_and_overtake() -> Result<(), String> {
    let (redis, records) = (Redis::start(), Records::none());
    let (stopped, other) = (over(&redis, &records).model_takes(1000).run(), over(&redis, &records).run());
    let overtake = async {
        is_drawn(&redis).await;
        stopped.signal(Signal::SIGSTOP);
        let drawn = other.plan("ride").await;
        stopped.signal(Signal::SIGCONT);
        drawn
    };
    let (late, drawn) = join!(stopped.plan("swim"), overtake);
    let plan = other.get("", "/plans/42").await;
    assert_ne!((&plan["goal"], &plan["revision"]), (&"swim".into(), &2.into()), "a late holder has written");
    match (late.status.as_u16(), drawn.status.as_u16(), plan["revision"].as_u64()) {
        (503, 200, Some(1)) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

#[tokio::test]
async fn an_instance_that_was_killed_does_not_keep_the_others_out() {
    let (redis, records) = (Redis::start(), Records::none());
    let (killed, other) = (over(&redis, &records).model_takes(20_000).run(), over(&redis, &records).run());
    let overtake = async {
        is_drawn(&redis).await;
        killed.signal(Signal::SIGKILL);
        other.plan("ride").await
    };
    let hung_up = async { killed.try_plan("swim").await.is_err() };
    let (hung_up, drawn) = join!(hung_up, overtake);
    assert!(hung_up);
    assert_eq!(drawn.status, 200);
}

#[tokio::test]
async fn without_the_redis_that_it_was_given_nothing_is_drawn() {
    let (redis, records) = (Redis::start(), Records::none());
    let program = over(&redis, &records).run();
    redis.kill();
    assert_eq!(program.plan("swim").await.status, 503);
    assert_eq!(program.get("", "/plans/42").await["status"], 404);
}
