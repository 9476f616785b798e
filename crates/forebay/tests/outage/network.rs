//! The way to the server fails: a hole, a slow line, a line that answers nonsense.

use std::time::Duration;

use forebay::testing::Flow;
use forebay_rig::Redis;
use tokio::{io::AsyncWriteExt, net::TcpListener};

use crate::{
    stage::{Stage, flow},
    timing::{least, median, pass, timed},
};

const A_WHILE: Duration = Duration::from_millis(1800);

#[tokio::test]
async fn a_hole_harms_no_caller() {
    let (stage, proxy) = Stage::behind_proxy().await;
    stage.survives(async { flow(&proxy, Flow::Hold) }, A_WHILE, async { flow(&proxy, Flow::Pass) }).await;
}

#[tokio::test]
async fn a_slow_server_harms_no_caller() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let slow = Flow::Delay(Duration::from_secs(2));
    stage.survives(async { proxy.replies(slow) }, A_WHILE, async { proxy.replies(Flow::Pass) }).await;
}

#[tokio::test]
async fn a_slow_server_costs_less_than_a_millisecond_once_it_is_given_up() {
    let (stage, proxy) = Stage::behind_proxy().await;
    proxy.replies(Flow::Delay(Duration::from_secs(2)));
    stage.give_up().await;
    let mut spans = Vec::new();
    for n in 0..200 {
        spans.push(timed(stage.read(&format!("unknown-{n}"), "1")).await.0);
    }
    let median = median(spans);
    assert!(median < Duration::from_millis(1), "median of 200: {median:?}");
    assert!(!stage.status().usable);
}

#[tokio::test]
async fn connections_that_are_cut_and_refused_harm_no_caller() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let cut = async {
        proxy.refuse();
        proxy.cut();
    };
    stage.survives(cut, A_WHILE, async { proxy.accept() }).await;
}

#[tokio::test]
async fn a_line_that_comes_and_goes_is_told_of_in_two_log_lines() {
    let (stage, proxy) = Stage::behind_proxy().await;
    for _ in 0..4 {
        proxy.refuse();
        proxy.cut();
        stage.given_up().await;
        proxy.accept();
        stage.in_use().await;
    }
    assert_eq!(stage.journal.lines(), 2);
}

#[tokio::test]
async fn a_server_that_speaks_another_protocol_harms_no_caller() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("redis://{}", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.expect("connections come");
            client.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await.ok();
            pass(Duration::from_millis(5)).await;
        }
    });
    let stage = Stage::at(Redis::start(), url).await;
    pass(Duration::from_millis(300)).await;
    let took = least(Duration::from_millis(80), async || timed(stage.read("a", "1")).await.0).await;
    assert!(took < Duration::from_millis(80), "{took:?}");
    assert!(!stage.status().usable, "{:?}", stage.status());
    assert!(stage.journal.lines() <= 2, "{} log lines", stage.journal.lines());
}
