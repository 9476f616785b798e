//! Requests that no route takes are refused as all others are: as a problem that says why.

use reqwest::Method;
use serde_json::json;

use crate::{
    answer::Answer,
    program::{Model, Start},
    records::Records,
};

#[tokio::test]
async fn a_method_that_a_path_does_not_take_is_named_and_those_it_takes() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let call = coach.call(Method::DELETE, "/ask", "runner-7", &json!({}));
    let refused = Answer::to(call).await.unwrap();
    assert_eq!((refused.status, refused.header("allow")), (405, "POST"), "{refused:?}");
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert!(refused.text("detail").contains("DELETE"), "{refused:?}");
}

#[tokio::test]
async fn a_body_that_is_too_long_to_be_read_is_called_so() {
    let (records, model) = (Records::none(), Model::taking(1));
    let coach = Start::alone(&records, &model).run();
    let call = coach.call(Method::POST, "/ask", "runner-7", &json!({ "question": "far ".repeat(1 << 20) }));
    let refused = Answer::to(call).await.unwrap();
    assert_eq!((refused.status, refused.header("content-type")), (413, "application/problem+json"));
}
