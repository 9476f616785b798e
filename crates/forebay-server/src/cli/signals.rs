//! The signals that end the server, or have it read its settings again.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT and SIGHUP, caught from here on.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let [terminate, interrupt, hangup] =
            [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
        Ok(Self { terminate: terminate?, interrupt: interrupt?, hangup: hangup? })
    }

    /// Waits for the next one that ends the server, names it, and does `again` at every other, which does not hold
    /// up the end.
    pub(super) async fn end(&mut self, mut again: impl AsyncFnMut()) -> &'static str {
        let Self { terminate, interrupt, hangup } = self;
        loop {
            let done = async {
                hangup.recv().await;
                again().await;
            };
            tokio::select! {
                _ = terminate.recv() => return "SIGTERM",
                _ = interrupt.recv() => return "SIGINT",
                () = done => {}
            }
        }
    }
}
