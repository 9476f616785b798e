//! What operators see, and nobody else.

use std::time::Duration;

use forebay_rig::Redis;
use tokio::time::sleep;

use crate::{
    program::{Model, Start, soon},
    records::Records,
};

const PATHS: [&str; 4] =
    ["/analytics/uv/today", "/analytics/uv/weekly", "/rate-limit/stats", "/redis-monitor/stats"];

#[tokio::test]
async fn figures_are_for_operators() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    for path in PATHS {
        assert_eq!(coach.get(path, "demo-partner").await.status, 403, "{path}");
        assert_eq!(coach.get(path, "guess").await.status, 401, "{path}");
        assert_eq!(coach.get(path, "demo-ops").await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn runners_are_counted_once_by_all_instances_however_often_they_come() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let coaches = [(); 2].map(|()| Start::over(&redis, &records, &model).run());
    for coach in &coaches {
        for user in ["runner-7", "runner-8", "runner-7"] {
            assert_eq!(coach.ask(user, "How fast?").await.status, 200);
        }
    }
    // They are sent a moment later.
    for path in [PATHS[0], PATHS[1]] {
        let counted = async {
            while coaches[0].figures(path).await["visitors"] != 2 {
                sleep(Duration::from_millis(20)).await;
            }
        };
        soon(counted).await;
        sleep(Duration::from_millis(500)).await;
        assert_eq!(coaches[1].figures(path).await["visitors"], 2);
    }
}

#[tokio::test]
async fn limits_in_use_are_those_of_apps_that_have_one() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    coach.get("/nowhere", "demo-free").await;
    coach.ask("runner-7", "How fast?").await;
    let limits = coach.figures("/rate-limit/stats").await;
    assert_eq!(limits["stats"][0]["subject"], "key:jogger");
    assert_eq!((&limits["stats"][0]["used"], &limits["total_keys"]), (&1.into(), &1.into()));
}

#[tokio::test]
async fn the_monitor_tells_of_redis_and_of_the_caches() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let coach = Start::over(&redis, &records, &model).run();
    coach.ask("runner-7", "How fast?").await;
    let told = coach.figures("/redis-monitor/stats").await;
    assert_eq!(told["redis"]["usable"], true);
    assert!(told["redis"]["servers"][0]["memory_bytes"].as_u64() > Some(0), "{told}");
    assert_eq!((&told["caches"][0]["space"], &told["caches"][0]["loads"]), (&"answer".into(), &1.into()));
}
