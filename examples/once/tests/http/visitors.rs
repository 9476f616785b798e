//! Who counts as a visitor.

use forebay_rig::Redis;
use serde_json::json;

use crate::{
    program::{alone, over},
    records::Records,
};

#[tokio::test]
async fn each_user_and_each_address_is_one_visitor_however_often_it_comes() {
    let records = Records::none();
    let program = alone(&records).run();
    for (user, key) in [("demo-ada", "a"), ("demo-ada", "b"), ("demo-bob", "c")] {
        assert_eq!(program.pay(user, key).await.status, 201);
    }
    program.code("ada@example.org").await;
    program.code("bob@example.org").await;
    assert_eq!(program.get("", "/visitors").await, json!({ "today": 3, "week": 3 }));
}

#[tokio::test]
async fn whoever_comes_to_two_instances_is_one_visitor() {
    let (redis, records) = (Redis::start(), Records::none());
    let programs = [over(&redis, &records).run(), over(&redis, &records).run()];
    for program in &programs {
        assert_eq!(program.pay("demo-ada", "k").await.status, 201);
    }
    for program in &programs {
        assert_eq!(program.get("", "/visitors").await, json!({ "today": 1, "week": 1 }));
    }
}
