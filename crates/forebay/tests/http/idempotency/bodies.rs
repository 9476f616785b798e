//! Bodies: large ones, and those that come in pieces.

use std::{io, time::Duration};

use axum::body::Bytes;
use forebay::Forebay;
use http_body::Frame;
use http_body_util::StreamBody;

use super::shop::{Shop, seen, until};

/// A shop that keeps records of so many bytes.
async fn keeping(bytes: usize) -> Shop {
    let forebay = Forebay::builder("shop").memory().build().await.unwrap();
    let payments = forebay.idempotency().max_record(bytes).lease(Duration::from_millis(300));
    let payments = payments.build().unwrap();
    Shop::over(forebay, payments, |layer| layer).await
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_and_nothing_is_done() {
    let shop = Shop::with(|layer| layer.max_body(100)).await;
    let refused = seen(shop.request("/payments", "k").body("9".repeat(101))).await;
    assert_eq!(refused.problem(), (413, "too-large".into()));
    let frames = (0..101).map(|_| Ok::<_, io::Error>(Frame::data(Bytes::from_static(b"9"))));
    let body = reqwest::Body::wrap(StreamBody::new(futures::stream::iter(frames)));
    let refused = seen(shop.request("/payments", "k").body(body)).await;
    assert_eq!((refused.problem(), shop.runs()), ((413, "too-large".into()), 0));
    assert_eq!(seen(shop.request("/payments", "k").body("9".repeat(100))).await.status, 201);
    assert_eq!(seen(shop.request("/payments", "").body("9".repeat(101))).await.status, 201);
}

#[tokio::test]
async fn pieces_are_passed_on_as_they_come_and_kept_once_all_have() {
    let shop = Shop::new().await;
    let pieces = shop.pieces();
    let sent = tokio::spawn(shop.request("/pieces", "k").send());
    pieces.send(Ok("one, ".into())).await.unwrap();
    let mut answer = sent.await.unwrap().unwrap();
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "one, ");
    assert_eq!(shop.post("/pieces", "k").await.problem(), (409, "running".into()));
    pieces.send(Ok("two".into())).await.unwrap();
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "two");
    drop(pieces);
    assert_eq!(answer.chunk().await.unwrap(), None);
    let again = shop.post("/pieces", "k").await;
    assert_eq!((again.is_replayed(), again.body.as_str(), shop.runs()), (true, "one, two", 1));
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_passed_on_whole_and_known_to_be_done() {
    let shop = keeping(10).await;
    let pieces = shop.pieces();
    let sent = tokio::spawn(seen(shop.request("/pieces", "k")));
    for _ in 0..100 {
        pieces.send(Ok("0123456".into())).await.unwrap();
    }
    drop(pieces);
    assert_eq!(sent.await.unwrap().body, "0123456".repeat(100));
    assert_eq!(shop.post("/pieces", "k").await.problem(), (409, "answer-not-kept".into()));
    assert_eq!(shop.runs(), 1);
}

// What is beyond the limit is as fast as its receiver, and is not held in memory.
#[tokio::test]
async fn an_answer_that_nobody_receives_is_not_gathered() {
    let shop = keeping(1 << 20).await;
    let pieces = shop.pieces();
    let answer = shop.request("/pieces", "k").send();
    let piece = Bytes::from(vec![7; 1 << 16]);
    let mut sent = 0;
    let answer = tokio::spawn(answer);
    while let Ok(Ok(())) =
        tokio::time::timeout(Duration::from_millis(500), pieces.send(Ok(piece.clone()))).await
    {
        sent += 1;
        assert!(sent < 1024, "64 MiB are held for somebody who reads nothing");
    }
    drop(answer.await.unwrap().unwrap());
    until(|| pieces.is_closed()).await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_indeterminate() {
    let shop = keeping(1 << 20).await;
    let pieces = shop.pieces();
    let sent = tokio::spawn(shop.request("/pieces", "k").send());
    pieces.send(Ok("half".into())).await.unwrap();
    let answer = sent.await.unwrap().unwrap();
    pieces.send(Err(io::Error::other("broken"))).await.unwrap();
    assert!(answer.text().await.is_err(), "it does not look whole");
    let mut again = shop.post("/pieces", "k").await;
    while again.problem().1 == "running" {
        again = shop.post("/pieces", "k").await;
    }
    assert_eq!((again.problem(), shop.runs()), ((409, "indeterminate".into()), 1));
}

#[tokio::test]
async fn an_answer_that_a_shutdown_cuts_off_does_not_look_whole() {
    let shop = Shop::new().await;
    let pieces = shop.pieces();
    let sent = tokio::spawn(shop.request("/pieces", "k").send());
    pieces.send(Ok("half".into())).await.unwrap();
    let answer = sent.await.unwrap().unwrap();
    assert!(!shop.forebay.shutdown(Duration::from_millis(50)).await);
    assert!(answer.text().await.is_err());
}

#[tokio::test]
async fn a_client_that_goes_away_within_an_answer_is_given_all_of_it_next_time() {
    let shop = Shop::new().await;
    let pieces = shop.pieces();
    let sent = tokio::spawn(shop.request("/pieces", "k").send());
    pieces.send(Ok("one, ".into())).await.unwrap();
    drop(sent.await.unwrap().unwrap());
    tokio::time::sleep(Duration::from_millis(50)).await;
    pieces.send(Ok("two".into())).await.unwrap();
    drop(pieces);
    let mut again = shop.post("/pieces", "k").await;
    while again.status == 409 {
        again = shop.post("/pieces", "k").await;
    }
    assert_eq!((again.is_replayed(), again.body.as_str()), (true, "one, two"));
}
