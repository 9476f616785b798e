//! Connections: accepted until the server shuts down, each with a bound on how long its headers may take, and its
//! answers to be received.

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
use socket2::SockRef;
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

/// How long a client may take nothing of what it is sent. It is what ends a stream that nobody reads.
const TAKING: Duration = Duration::from_secs(30);

/// How long a connection for which nobody waits stays when the server shuts down: it may still make its first request.
const LAST_CALL: Duration = Duration::from_secs(1);

/// Whether a shutdown waits for a connection, as it does for those that have made a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Awaited(Arc<AtomicBool>);

impl Awaited {
    /// Nobody waits for what is answered now, which has no end.
    pub(crate) fn no_longer(&self) {
        self.0.store(false, Relaxed);
    }
}

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
    let prepared =
        stream.set_nodelay(true).and_then(|()| SockRef::from(&stream).set_tcp_user_timeout(Some(TAKING)));
    if let Err(error) = prepared {
        tracing::debug!(%error, "the connection closed at once");
        return;
    }
    let awaited = Awaited::default();
    let router = TowerToHyperService::new(router.clone());
    let note = awaited.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        note.0.store(true, Relaxed);
        request.extensions_mut().insert(note.clone());
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let connection = open.watch(http.serve_connection(TokioIo::new(stream), service));
    tokio::spawn(async move {
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended");
            },
            () = last_call(&stopping, &awaited) => tracing::debug!("a connection ended that nobody waits for"),
        }
    });
}

/// Completes a moment after the shutdown begins, if nobody waits for the connection then.
async fn last_call(stopping: &CancellationToken, Awaited(is_awaited): &Awaited) {
    stopping.cancelled().await;
    sleep(LAST_CALL).await;
    if is_awaited.load(Relaxed) {
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
