//! Connections: accepted until the server shuts down, each with a bound on how long its headers may take.

use std::{
    future, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::Router;
use forebay::http::Peer;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// How long a connection may take to send the headers of its next request, idle time included.
///
/// Longer than the 90 s for which common clients keep an idle connection. The client must be the one to close
/// it, or it may send a request into a connection that is just being closed.
const HEADERS: Duration = Duration::from_secs(100);

/// How long a connection that never made a request may still make one when the server shuts down.
const LAST_CALL: Duration = Duration::from_secs(1);

/// Serves connections until `stop`. Returns what waits for those that are still open then.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()>,
) -> GracefulShutdown {
    let open = GracefulShutdown::new();
    let stopping = CancellationToken::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS);
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => attend((stream, peer.into()), &http, &router, &open, stopping.clone()),
                Err(error) => recover(error).await,
            },
            () = &mut stop => {
                stopping.cancel();
                return open;
            }
        }
    }
}

fn attend(
    (stream, peer): (TcpStream, Peer),
    http: &http1::Builder,
    router: &Router,
    open: &GracefulShutdown,
    stopping: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "the connection closed at once");
        return;
    }
    let was_asked = Arc::new(AtomicBool::new(false));
    let router = TowerToHyperService::new(router.clone());
    let note = was_asked.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        note.store(true, Relaxed);
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let connection = open.watch(http.serve_connection(TokioIo::new(stream), service));
    tokio::spawn(async move {
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended");
            },
            () = last_call(&stopping, &was_asked) => tracing::debug!("a connection ended without a request"),
        }
    });
}

/// Completes a moment after the shutdown begins, if there was no request until then.
async fn last_call(stopping: &CancellationToken, was_asked: &AtomicBool) {
    stopping.cancelled().await;
    sleep(LAST_CALL).await;
    if was_asked.load(Relaxed) {
        future::pending::<()>().await;
    }
}

/// Waits a moment if this process itself cannot take more, for want of file descriptors.
async fn recover(error: io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::error!(%error, "no connection can be accepted");
    sleep(Duration::from_secs(1)).await;
}
