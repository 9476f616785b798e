//! Tokens: who may call, and who may not listen without them.

use sha2::{Digest, Sha256};

use crate::support::{Answered, Server, run};

const PATH: &str = "/v1/cache/a/b";

fn settings() -> String {
    let hash = |token: &str| hex::encode(Sha256::digest(token));
    format!(
        "[auth]\ntokens = [\n  {{ name = \"web\", sha256 = \"{}\", scopes = [\"data\"] }},\n  \
         {{ name = \"page\", sha256 = \"{}\", scopes = [\"read\", \"ops\"] }},\n]\n",
        hash("secret"),
        hash("page").to_uppercase(),
    )
}

#[tokio::test]
async fn a_token_with_the_scope_passes() {
    let server = Server::with(&settings());

    for value in ["Bearer secret", "bearer secret"] {
        let answer = Answered::to(server.get(PATH).header("authorization", value)).await;
        assert_eq!(answer.problem(), (404, "cache-miss".into()), "{value}");
    }
    for open in ["/livez", "/readyz"] {
        assert_eq!(Answered::to(server.get(open)).await.status, 200);
    }
}

#[tokio::test]
async fn without_a_valid_token_nothing_passes() {
    let server = Server::with(&settings());
    for value in ["", "secret", "Bearer", "Bearer ", "Bearer  secret", "Bearer Secret", "Basic secret"] {
        let answer = Answered::to(server.get(PATH).header("authorization", value)).await;
        assert_eq!(answer.problem(), (401, "unauthorized".into()), "{value}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let twice = server.get(PATH).header("authorization", "Bearer secret").header("authorization", "Bearer x");
    assert_eq!(Answered::to(twice).await.status, 401);
    assert_eq!(Answered::to(server.get(&format!("{PATH}?token=secret"))).await.status, 401);
    assert_eq!(Answered::to(server.post(PATH, "")).await.status, 401);
}

#[tokio::test]
async fn a_token_for_something_else_is_forbidden() {
    let server = Server::with(&settings());

    let answer = Answered::to(server.get(PATH).header("authorization", "Bearer page")).await;

    assert_eq!(answer.problem(), (403, "forbidden".into()));
    assert!(answer.body.contains("`data`"), "{answer:?}");
}

#[tokio::test]
async fn who_may_not_read_values_is_shown_none() {
    let hash = |token: &str| hex::encode(Sha256::digest(token));
    let server = Server::with(&format!(
        "[auth]\ntokens = [\n  {{ name = \"page\", sha256 = \"{}\", scopes = [\"ops\"] }},\n  \
         {{ name = \"root\", sha256 = \"{}\", scopes = [\"ops\", \"data\"] }},\n]\n",
        hash("page"),
        hash("root"),
    ));
    let put = server.put(&format!("{PATH}?ttl_ms=60000"), "secret");
    assert_eq!(Answered::to(put.header("authorization", "Bearer root")).await.status, 204);
    let look = async |query: &str, token: &str| {
        let path = format!("/ops/cache/a/b{query}");
        Answered::to(server.get(&path).header("authorization", format!("Bearer {token}"))).await
    };

    let refused = look("?value=1", "page").await;
    assert_eq!(refused.problem(), (403, "forbidden".into()));
    assert!(refused.body.contains("`data`"), "{refused:?}");
    for (query, token, has_value) in [("", "page", false), ("", "root", false), ("?value=1", "root", true)] {
        let told = look(query, token).await.json();
        assert_eq!(told["store"].get("value").is_some(), has_value, "{token}{query}: {told}");
    }
}

#[tokio::test]
async fn what_is_kept_needs_one_scope_and_figures_another() {
    let server = Server::with(&settings());
    let (data, read) = ("Bearer secret", "Bearer page");
    let calls = [
        ("POST", "/v1/invalidate/a?matching=a", read, data),
        ("POST", "/v1/invalidate/a?m%61tching=a", read, data),
        ("POST", "/v1/locks/a", data, read),
        ("POST", "/v1/claims/a", data, read),
        ("POST", "/v1/idempotency/a", data, read),
        ("GET", "/v1/unique/site", data, read),
        ("GET", "/metrics", read, data),
        ("POST", "/v1/events/a", data, read),
        ("GET", "/redis-monitor/stats", read, data),
        ("GET", "/analytics/uv/today", read, data),
        ("GET", "/analytics/uv/weekly", read, data),
    ];
    for (method, path, passes, does_not) in calls {
        let status = async |token: Option<&str>| {
            let request = token
                .iter()
                .fold(server.request(method, path), |request, token| request.header("authorization", *token));
            Answered::to(request).await.status
        };
        assert_eq!([status(Some(does_not)).await, status(None).await], [403, 401], "{path}");
        assert!([200, 201, 204, 400].contains(&status(Some(passes)).await), "{path}");
    }
    // A stream, which has no end.
    let listen = |token: &str| server.get("/v1/events/a").header("authorization", token).send();
    assert_eq!(listen(read).await.unwrap().status(), 403);
    assert_eq!(listen(data).await.unwrap().status(), 200);
}

#[test]
fn other_machines_are_kept_out_without_tokens() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let output = run(&["--listen", listen], &[], None);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        for named in [listen, "--listen", "auth.tokens", "sha256sum"] {
            assert!(message.contains(named), "{named}: {message}");
        }
    }
}
