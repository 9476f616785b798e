//! Values that are invalidated together: by ids, by a tag, or all of a space.

use crate::support::{Answered, Server, Stage};

const SPACE: &str = "/v1/cache/tagged";

async fn put(server: &Server, id: &str, query: &str) {
    let put = Answered::to(server.put(&format!("{SPACE}/{id}?ttl_ms=60000{query}"), id.to_owned())).await;
    assert_eq!(put.status, 204, "{put:?}");
}

async fn has(server: &Server, id: &str) -> bool {
    let got = Answered::to(server.get(&format!("{SPACE}/{id}"))).await;
    assert!([200, 404].contains(&got.status), "{got:?}");
    got.status == 200
}

async fn post(server: &Server, path: &str, body: &'static str) -> Answered {
    Answered::to(server.post(path, body)).await
}

#[tokio::test]
async fn a_tag_takes_its_values_on_both_servers() {
    for stage in Stage::each().await {
        put(&stage.here, "a", "&tag=red&tag=new%20ones").await;
        put(&stage.here, "b", "&tag=blue").await;
        assert!(has(&stage.here, "a").await);
        let done = post(&stage.there, "/v1/invalidate/tagged", r#"{"tags":["green","new ones"]}"#).await;
        assert_eq!((done.status, done.body.as_str()), (204, ""));
        assert!(!has(&stage.there, "a").await);
        assert!(has(&stage.there, "b").await);
    }
}

#[tokio::test]
async fn ids_and_tags_are_invalidated_together() {
    let server = Server::start();
    for id in ["a", "b", "c"] {
        put(&server, id, &format!("&tag=t-{id}")).await;
    }
    assert_eq!(post(&server, "/v1/invalidate/tagged", r#"{"ids":["a"],"tags":["t-b"]}"#).await.status, 204);
    assert!(!has(&server, "a").await && !has(&server, "b").await && has(&server, "c").await);
}

#[tokio::test]
async fn clearing_takes_the_whole_space() {
    for stage in Stage::each().await {
        put(&stage.here, "a", "&tag=red").await;
        put(&stage.here, "b", "").await;
        assert!(has(&stage.there, "b").await);
        let done = post(&stage.there, "/v1/clear/tagged", "").await;
        assert_eq!((done.status, done.body.as_str()), (204, ""));
        assert!(!has(&stage.there, "a").await && !has(&stage.there, "b").await);
        put(&stage.here, "b", "").await;
        assert!(has(&stage.there, "b").await);
    }
}

#[tokio::test]
async fn a_lease_granted_before_a_tag_was_invalidated_fills_nothing_with_it() {
    for stage in Stage::each().await {
        let lease = format!("{SPACE}/a/lease");
        // A tag that nothing has had yet begins at the present number of its space.
        put(&stage.here, "b", "&tag=blue").await;
        for tag in ["red", "blue"] {
            let token = Answered::to(stage.here.post(&lease, r#"{"wait_ms":0}"#)).await.lease();
            post(&stage.there, "/v1/invalidate/tagged", r#"{"tags":["red"]}"#).await;
            let fill = stage.there.put(&format!("{lease}?ttl_ms=60000&tag={tag}"), "old");
            let filled = Answered::to(fill.header("forebay-lease", token)).await;
            assert_eq!(filled.status, if tag == "red" { 409 } else { 204 }, "{filled:?}");
        }
        assert!(has(&stage.there, "a").await);
    }
}

#[tokio::test]
async fn what_cannot_be_invalidated_is_refused_by_name() {
    let server = Server::start();
    let many = format!(r#"{{"ids":{:?}}}"#, vec!["a"; 1001]);
    for (path, body, named) in [
        ("/v1/invalidate/tagged", "", "name 1 to 1000"),
        ("/v1/invalidate/tagged", r#"{"ids":[],"tags":[]}"#, "name 1 to 1000"),
        ("/v1/invalidate/tagged", many.as_str(), "1001"),
        ("/v1/invalidate/tagged", r#"{"tag":["a"]}"#, "`tag`"),
        ("/v1/invalidate/tagged", r#"{"tags":"a"}"#, "`tags`"),
        ("/v1/clear/tagged", r#"{"ids":["a"]}"#, "`ids`"),
    ] {
        let answer = Answered::to(server.post(path, body.to_owned())).await;
        assert_eq!(answer.problem(), (400, "invalid-body".into()), "{body}");
        assert!(answer.body.contains(named), "{body}: {}", answer.body);
    }
    assert_eq!(post(&server, "/v1/clear/No%20Name", "").await.status, 400);
    assert_eq!(post(&server, "/v1/clear/tagged?really=1", "").await.problem().1, "invalid-query");
    let tags = "&tag=a".repeat(2) + &(0..128).map(|n| format!("&tag={n}")).collect::<String>();
    let put = server.put(&format!("{SPACE}/a?ttl_ms=1000{tags}"), "a");
    assert_eq!(Answered::to(put).await.problem(), (400, "invalid-query".into()));
    let absent = server.put(&format!("{SPACE}/a?ttl_ms=1000&absent=1&tag=a"), "");
    assert_eq!(Answered::to(absent).await.problem(), (400, "invalid-query".into()));
    let cleared = Answered::to(server.delete("/v1/cache/tagged")).await;
    assert_eq!(cleared.status, 404);
}
