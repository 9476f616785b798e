//! Runners whom nobody knows.

use std::time::Duration;

use forebay_rig::Redis;
use tokio::time::sleep;

use crate::{
    program::{Coach, Model, Start, soon},
    records::Records,
};

/// How many reads the filter has stopped.
async fn filtered(coach: &Coach) -> u64 {
    let caches = &coach.figures("/redis-monitor/stats").await["caches"];
    let runners = caches.as_array().unwrap().iter().find(|space| space["space"] == "runner").unwrap();
    runners["filtered"].as_u64().unwrap()
}

/// Asks for runners that do not exist until the filter stops one.
async fn is_filled(coach: &Coach) {
    let before = filtered(coach).await;
    let stops = async {
        for n in 1_000.. {
            assert_eq!(coach.ask(&format!("runner-{n}"), "How fast?").await.status, 404);
            if filtered(coach).await > before {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    soon(stops).await;
}

#[tokio::test]
async fn a_runner_that_does_not_exist_is_stopped_by_the_filter() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    for start in [Start::alone(&records, &model), Start::over(&redis, &records, &model)] {
        let coach = start.run();
        is_filled(&coach).await;
        assert_eq!(coach.ask("runner-100", "How fast?").await.status, 200);
    }
}

#[tokio::test]
async fn after_a_restart_of_redis_the_filter_is_filled_again_and_stops_nobody_meanwhile() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let coach = Start::over(&redis, &records, &model).run();
    is_filled(&coach).await;
    redis.restart();
    assert_eq!(coach.ask("runner-100", "How fast?").await.status, 200);
    is_filled(&coach).await;
}
