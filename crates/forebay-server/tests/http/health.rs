//! Whether the process runs, and whether it should be sent requests.

use serde_json::json;

use crate::support::{Answered, Server};

#[tokio::test]
async fn a_server_that_runs_is_alive_and_ready() {
    let server = Server::start();

    assert_eq!(Answered::to(server.get("/livez")).await.json(), json!({ "status": "alive" }));
    let ready = Answered::to(server.get("/readyz")).await;
    assert_eq!((ready.status, ready.json()), (200, json!({ "status": "ready" })));
}

#[tokio::test]
async fn a_verbose_answer_says_on_which_store_it_runs() {
    let server = Server::start();

    for query in ["verbose", "verbose=1"] {
        let answer = Answered::to(server.get(&format!("/readyz?{query}"))).await;
        assert_eq!(answer.json(), json!({ "status": "ready", "components": {}, "store": "memory" }));
    }
}

#[tokio::test]
async fn a_server_whose_redis_is_not_there_serves_and_says_what_is_missing() {
    let server = Server::with("[redis]\nurl = \"redis://127.0.0.1:1\"");

    let answer = Answered::to(server.get("/readyz?verbose")).await;

    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("degraded")), "{answer:?}");
    assert_eq!(answer.json()["components"]["redis"]["usable"], false);
    assert_eq!(answer.json()["store"], "redis");
}
