//! Visitors, counted by the day, over memory and over Redis.

use std::time::Duration;

use jiff::{ToSpan, civil::Date};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use crate::support::{Answered, Server, Stage};

const SITE: &str = "/v1/unique/site";

async fn record(server: &Server, path: &str, ids: impl IntoIterator<Item = u32>) {
    let ids: Vec<_> = ids.into_iter().map(|id| format!("user:{id}")).collect();
    let answer = Answered::to(server.post(path, json!({ "ids": ids }).to_string())).await;
    assert_eq!((answer.status, answer.body.as_str()), (204, ""), "{answer:?}");
}

async fn figures(server: &Server, path: &str) -> Value {
    let answer = Answered::to(server.get(path)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn date(value: &Value) -> Date {
    value.as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn whoever_comes_often_and_to_any_server_is_one_visitor() {
    for stage in Stage::each().await {
        record(&stage.here, SITE, 0..100).await;
        record(&stage.here, SITE, 50..100).await;
        assert_eq!(figures(&stage.here, SITE).await["count"], 100);
        record(&stage.there, SITE, 50..150).await;
        for days in ["", "?days=7"] {
            let count = figures(&stage.there, &format!("{SITE}{days}")).await["count"].as_i64().unwrap();
            assert!((148..=152).contains(&count), "{count}");
        }
    }
}

#[tokio::test]
async fn a_count_names_its_days_and_its_error() {
    for stage in Stage::each().await {
        record(&stage.here, SITE, 0..3).await;

        let week = figures(&stage.here, &format!("{SITE}?days=7")).await;

        let to = date(&week["to"]);
        let from = to.checked_sub(6.days()).unwrap().to_string();
        let told = json!({ "count": 3, "from": from, "to": to.to_string(), "standard_error": 0.0081 });
        assert_eq!(week, told);
        let today = figures(&stage.there, &format!("{SITE}?date={to}")).await;
        assert_eq!((&today["count"], &today["from"], &today["to"]), (&json!(3), &week["to"], &week["to"]));
        let yesterday = to.checked_sub(1.days()).unwrap();
        assert_eq!(figures(&stage.there, &format!("{SITE}?date={yesterday}")).await["count"], 0);
    }
}

#[tokio::test]
async fn the_site_has_its_figures_by_the_day_and_by_the_week() {
    for stage in Stage::each().await {
        record(&stage.here, SITE, 0..5).await;
        record(&stage.here, "/v1/unique/shop", 0..2).await;

        let today = figures(&stage.here, "/analytics/uv/today").await;
        let weekly = figures(&stage.here, "/analytics/uv/weekly").await;

        assert_eq!(today, json!({ "uv": 5, "date": weekly["to"] }));
        let from = date(&weekly["to"]).checked_sub(6.days()).unwrap().to_string();
        assert_eq!(weekly, json!({ "uv": 5, "from": from, "to": weekly["to"] }));
        assert_eq!(figures(&stage.here, "/analytics/uv/today?counter=shop").await["uv"], 2);
        assert_eq!(figures(&stage.here, "/analytics/uv/weekly?counter=shop").await["uv"], 2);
        assert_eq!(figures(&stage.here, "/analytics/uv/weekly?counter=none").await["uv"], 0);
    }
}

#[tokio::test]
async fn what_was_recorded_is_counted_elsewhere_within_moments() {
    let stage = Stage::redis("").await;
    assert_eq!(figures(&stage.there, SITE).await["count"], 0);
    record(&stage.here, SITE, 0..3).await;
    for _ in 0..100 {
        if figures(&stage.there, SITE).await["count"] == 3 {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("nobody is counted");
}

#[tokio::test]
async fn counters_have_the_days_of_their_settings() {
    // Two zones whose dates are never the same.
    let server = Server::with(
        "[unique]\ntime_zone = \"Pacific/Kiritimati\"\nkeep_days = 31\n\
         [unique.counters.far]\ntime_zone = \"Pacific/Pago_Pago\"\nkeep_days = 3",
    );
    let near = figures(&server, &format!("{SITE}?days=31")).await;
    let far = figures(&server, "/v1/unique/far?days=3").await;
    assert!(date(&near["to"]) > date(&far["to"]), "{near} {far}");
    let refused = Answered::to(server.get("/v1/unique/far?days=4")).await;
    assert_eq!(refused.problem(), (400, "invalid-query".into()));
    assert!(refused.body.contains('3'), "{refused:?}");
}

#[tokio::test]
async fn a_week_of_which_fewer_days_are_kept_says_from_which_day_it_counts() {
    let server = Server::with("[unique]\nkeep_days = 3");
    record(&server, SITE, 0..5).await;
    let weekly = figures(&server, "/analytics/uv/weekly").await;
    let from = date(&weekly["to"]).checked_sub(2.days()).unwrap().to_string();
    assert_eq!((&weekly["uv"], &weekly["from"]), (&json!(5), &json!(from)));
}

#[tokio::test]
async fn many_who_record_a_great_many_at_once_are_all_counted() {
    let stage = Stage::redis("").await;
    let mut callers = JoinSet::new();
    for batch in 0..20 {
        let server = stage.here.clone();
        callers.spawn(async move { record(&server, SITE, batch * 10_000..(batch + 1) * 10_000).await });
    }
    callers.join_all().await;
    let count = figures(&stage.here, SITE).await["count"].as_f64().unwrap();
    assert!((194_000.0..=206_000.0).contains(&count), "{count}");
}

#[tokio::test]
async fn clients_make_so_many_counters_and_no_more() {
    let server = Server::start();
    for number in 0..1024 {
        record(&server, &format!("/v1/unique/n{number}"), 0..1).await;
    }
    let refused = Answered::to(server.post("/v1/unique/another", r#"{"ids":["a"]}"#)).await;
    assert_eq!(refused.problem(), (400, "too-many-counters".into()));
    assert!(refused.body.contains("[unique.counters."), "{refused:?}");
    record(&server, SITE, 0..1).await;
}

#[tokio::test]
async fn who_only_asks_takes_no_place_of_a_counter() {
    for stage in Stage::each().await {
        for number in 0..600 {
            for path in [format!("/v1/unique/n{number}"), format!("/analytics/uv/today?counter=m{number}")] {
                assert_eq!(Answered::to(stage.here.get(&path)).await.status, 200, "{path}");
            }
        }
        record(&stage.here, "/v1/unique/another", 0..3).await;
        for server in [&stage.here, &stage.there] {
            assert_eq!(figures(&stage.here, "/v1/unique/another").await["count"], 3);
            assert_eq!(figures(server, "/analytics/uv/weekly?counter=n7").await["uv"], 0);
        }
    }
}

#[tokio::test]
async fn a_counter_that_only_another_server_has_is_read() {
    let stage = Stage::redis("").await;
    record(&stage.here, "/v1/unique/shop", 0..3).await;
    assert_eq!(figures(&stage.here, "/v1/unique/shop").await["count"], 3);
    assert_eq!(figures(&stage.there, "/v1/unique/shop").await["count"], 3);
}
