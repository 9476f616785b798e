//! Whose key it is, and what one that is nobody's gets.

use serde_json::Value;

use crate::program::Program;

#[tokio::test]
async fn a_key_in_either_header_has_its_tier() {
    let program = Program::start();
    for (header, expected) in [
        (("x-api-key", "demo-basic"), ("key:k-2", "basic")),
        (("authorization", "Bearer demo-pro"), ("key:k-3", "pro")),
        (("authorization", "bearer demo-free"), ("key:k-1", "free")),
        (("authorization", "Basic ZGVtbzpwcm8="), ("address:127.0.0.1", "free")),
    ] {
        let answer: Value = program.get("/quote", header).await.json().await.unwrap();
        assert_eq!((&answer["caller"], &answer["tier"]), (&expected.0.into(), &expected.1.into()));
    }
}

#[tokio::test]
async fn a_key_has_one_quota_in_whichever_header_it_comes() {
    let program = Program::start();
    for _ in 0..5 {
        assert_eq!(program.quote(("x-api-key", "demo-free")).await, 200);
        assert_eq!(program.quote(("authorization", "Bearer demo-free")).await, 200);
    }
    assert_eq!(program.quote(("x-api-key", "demo-free")).await, 429);
    assert_eq!(program.quote(("x-api-key", "demo-basic")).await, 200, "another key has another");
}

#[tokio::test]
async fn a_key_that_nobody_has_is_a_401_and_takes_from_its_address() {
    let program = Program::start();
    let answer = program.get("/quote", ("x-api-key", "guess")).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["www-authenticate"]),
        (401, &"Bearer".parse().unwrap())
    );
    assert_eq!(answer.headers()["x-ratelimit-remaining"], "9");

    for guess in 1..10 {
        assert_eq!(program.quote(("x-api-key", &format!("guess-{guess}"))).await, 401);
    }
    assert_eq!(program.quote(("x-api-key", "guess-10")).await, 429);
    assert_eq!(program.quote(("x-api-key", "demo-free")).await, 200, "who has a key is not held up");
}

#[tokio::test]
async fn what_is_no_text_is_nobodys_key() {
    assert_eq!(Program::start().quote(("x-api-key", "démo")).await, 401);
}
