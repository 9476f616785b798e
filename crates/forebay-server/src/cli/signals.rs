//! The signals that end the program, and the one that has the server read its settings again.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, caught from here on. SIGHUP ends a verb, as it does any program that is not to outlive its
/// terminal.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

/// Those, and SIGHUP, of a program that serves.
#[derive(Debug)]
pub(super) struct ServerSignals {
    end: Signals,
    hangup: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let [terminate, interrupt] = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
        Ok(Self { terminate: terminate?, interrupt: interrupt? })
    }

    /// Waits for the next one, and names it.
    pub(super) async fn end(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

impl ServerSignals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { end: Signals::new()?, hangup: signal(SignalKind::hangup())? })
    }

    /// Waits for the next one that ends the server, names it, and does `again` at every other, which does not hold
    /// up the end.
    pub(super) async fn end(&mut self, mut again: impl AsyncFnMut()) -> &'static str {
        loop {
            let done = async {
                self.hangup.recv().await;
                again().await;
            };
            tokio::select! {
                signal = self.end.end() => return signal,
                () = done => {}
            }
        }
    }
}
