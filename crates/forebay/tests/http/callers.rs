//! Who is asking, as the application's look-up tells.

use std::{convert::Infallible, future, io, net::SocketAddr, time::Duration};

use axum::{Router, routing::get};
use forebay::{
    Subject,
    http::{Addresses, Caller, CallerLayer, Identity, Peer},
};
use http::{Request, Response};
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::stage::{telling, told};

const PEER: &str = "198.51.100.4";

fn layer() -> CallerLayer {
    CallerLayer::new(Addresses::new())
}

#[tokio::test]
async fn a_key_is_looked_up_and_an_unknown_one_is_no_identity() {
    let router = telling(layer().lookup(|head| {
        let known = head.headers.get("x-api-key").is_some_and(|key| key == "k-1");
        let identity = known.then(|| Identity::new(Subject::key("1")).tier("pro"));
        async move { Ok::<_, Infallible>(identity) }
    }));

    assert_eq!(told(&router, PEER, &[("x-api-key", "k-1")]).await, "key:1 pro");
    assert_eq!(told(&router, PEER, &[("x-api-key", "k-2")]).await, "address:198.51.100.4 free");
}

#[tokio::test]
async fn a_look_up_that_fails_or_hangs_identifies_nobody_and_refuses_nobody() {
    let failing = layer().lookup(|_| async { Err::<Option<Identity>, _>(io::Error::other("no database")) });
    assert_eq!(told(&telling(failing), PEER, &[]).await, "address:198.51.100.4 free");

    let hanging = layer()
        .lookup(|_| future::pending::<Result<Option<Identity>, Infallible>>())
        .lookup_timeout(Duration::from_millis(20));
    assert_eq!(told(&telling(hanging), PEER, &[]).await, "address:198.51.100.4 free");
}

#[tokio::test]
async fn a_handler_without_a_layer_sees_the_unknown_caller() {
    let router = Router::new().route("/", get(async |caller: Caller| caller.subject().to_string()));
    assert_eq!(told(&router, PEER, &[]).await, "address:unknown");

    let router = Router::new().route("/", get(async |caller: Option<Caller>| caller.is_none().to_string()));
    assert_eq!(told(&router, PEER, &[]).await, "true");
}

#[tokio::test]
async fn a_program_without_axum_notes_the_peer_itself() {
    let tell = async |request: Request<()>| {
        let caller = request.extensions().get::<Caller>().unwrap();
        Ok::<_, Infallible>(Response::new(caller.subject().to_string()))
    };
    let mut request = Request::new(());
    request.extensions_mut().insert(Peer::from("203.0.113.9:80".parse::<SocketAddr>().unwrap()));

    let service = ServiceBuilder::new().layer(layer()).service(service_fn(tell));
    assert_eq!(service.oneshot(request).await.unwrap().body(), "address:203.0.113.9");
}

#[tokio::test]
async fn over_a_real_connection_the_peer_is_the_other_end() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let service = telling(layer()).into_make_service_with_connect_info::<SocketAddr>();
    let server = tokio::spawn(async move { axum::serve(listener, service).await });

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.get(url).header("x-forwarded-for", "6.6.6.6").send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "address:127.0.0.1 free");
    server.abort();
}
