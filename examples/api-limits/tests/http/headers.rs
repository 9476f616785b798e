//! What an answer that passes shows.

use reqwest::Response;

use crate::program::Program;

const PRO: (&str, &str) = ("x-api-key", "demo-pro");

/// A header; nothing where there is none.
fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn the_draft_is_shown_beside_the_common_headers() {
    let program = Program::start();
    let answer = program.get("/quote", PRO).await;
    assert_eq!(header(&answer, "x-ratelimit-limit"), "60");
    assert_eq!(header(&answer, "x-ratelimit-remaining"), "59");
    assert_eq!(header(&answer, "ratelimit-policy"), r#""api-minute";q=60;w=60, "api-hour";q=2000;w=3600"#);
    assert_eq!(header(&answer, "ratelimit"), r#""api-minute";r=59;t=66, "api-hour";r=1999;t=3960"#);
}

#[tokio::test]
async fn a_report_costs_five_quotes() {
    let program = Program::start();
    for left in ["55", "50"] {
        assert_eq!(header(&program.get("/report", PRO).await, "x-ratelimit-remaining"), left);
    }
    assert_eq!(header(&program.get("/quote", PRO).await, "x-ratelimit-remaining"), "49");
}

#[tokio::test]
async fn whoever_watches_the_service_is_not_limited() {
    let program = Program::start();
    for _ in 0..30 {
        let answer = program.get("/livez", ("x-api-key", "demo-free")).await;
        assert_eq!((answer.status().as_u16(), header(&answer, "x-ratelimit-limit")), (200, ""));
    }
}
