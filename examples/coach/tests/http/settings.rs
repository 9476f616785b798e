//! A setting that cannot be used is refused at the start, by its name.

use crate::{
    answer::Answer,
    process::{self, Process},
    program,
    records::Records,
};

#[test]
fn a_setting_that_cannot_be_used_is_named_at_the_start() {
    let records = Records::none();
    for (flag, value, why) in [
        ("--model-url", "https://api.openai.com", "proxy"),
        ("--model-url", "localhost:11434", "http://"),
        ("--model-url", "nonsense", "http://"),
        ("--model-url", "http://127.0.0.1:1/v1?key=7", "http://"),
        ("--redis-budget", "0", "1"),
        ("--redis-budget", "60001", "60000"),
        ("--fresh-for", "0", "1"),
        ("--redis", "nonsense", "redis://"),
    ] {
        let output = process::output(program::coach(&records).args([flag, value]));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains(flag) && said.contains(why),
            "{flag} {value}: {said}"
        );
    }
}

#[tokio::test]
async fn a_proxy_of_the_shell_does_not_stand_in_front_of_a_model_on_this_machine() {
    let records = Records::none();
    let mut command = program::coach(&records);
    // Nobody listens there.
    command.env("HTTP_PROXY", "http://127.0.0.1:9").env("http_proxy", "http://127.0.0.1:9");
    let process = Process::start(command.args(["--model-takes", "1"]));
    let call = reqwest::Client::builder().no_proxy().build().unwrap().post(format!("{}/ask", process.base));
    let call = call.header("x-api-key", "demo-free").header("x-user", "runner-7");
    let answer = Answer::to(call.body(r#"{"question": "How fast?"}"#)).await.unwrap();
    assert_eq!((answer.status, answer.text("source")), (200, "model"), "{answer:?}");
}
