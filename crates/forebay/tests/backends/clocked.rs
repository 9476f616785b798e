//! Servers whose clock the rig moves, for what counts by the server's time. Their cases take turns, as they share it.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use forebay::Forebay;
use forebay_rig::{Redis, ServerClock};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::{
    rig::Rig,
    server::{Ages, Running, ServerRig, Servers},
};

/// Servers that there are with a clock that can be moved.
pub(crate) trait Clocks: Servers {
    fn with_clock() -> (Self, ServerClock);

    /// Where those are found that run already.
    fn clocked() -> &'static Running<Clocked<Self>>;
}

/// Servers and their clock.
pub(crate) struct Clocked<S> {
    servers: S,
    pub(crate) clock: ServerClock,
    turn: Arc<Mutex<()>>,
}

impl<S: Clocks> Clocked<S> {
    fn share() -> Arc<Self> {
        let mut running = S::clocked().lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Self::start());
            *running = Arc::downgrade(&started);
            started
        })
    }
}

impl<S: Clocks> Servers for Clocked<S> {
    const MOMENT: Duration = S::MOMENT;

    fn start() -> Self {
        let (servers, clock) = S::with_clock();
        Self { servers, clock, turn: Arc::default() }
    }

    fn url(&self) -> String {
        self.servers.url()
    }

    fn nodes(&self) -> &[Redis] {
        self.servers.nodes()
    }

    fn running() -> &'static Running<Self> {
        S::clocked()
    }
}

/// As the rig of a server, with the server's clock in step with that of the process.
pub(crate) struct ClockedRig<S>(pub(crate) ServerRig<Clocked<S>>);

impl<S: Clocks> ClockedRig<S> {
    pub(crate) async fn new() -> Self {
        let shared = Clocked::<S>::share();
        let turn = shared.turn.clone().lock_owned().await;
        let ages = |servers: Arc<_>, app: String| Moved { servers, app, _turn: turn };
        Self(ServerRig::ageing(shared.clone(), |_, app| Box::new(ages(shared, app.into()))).await)
    }
}

impl<S: Clocks> Rig for ClockedRig<S> {
    fn forebay(&self) -> &Forebay {
        self.0.forebay()
    }

    async fn pass(&self, span: Duration) {
        self.0.pass(span).await;
    }

    async fn settle(&self) {
        self.0.settle().await;
    }

    fn slack(&self) -> Duration {
        self.0.slack()
    }
}

/// A limiter does nothing by itself that time could bring about: few steps will do.
const STEP: Duration = Duration::from_millis(250);

/// Of a long span no more than this share passes at a time.
const SHARE: u32 = 4;

/// Keys age with the clock of their server.
struct Moved<S> {
    servers: Arc<Clocked<S>>,
    app: String,
    _turn: OwnedMutexGuard<()>,
}

impl<S: Clocks> Ages for Moved<S> {
    fn step(&self, left: Duration) -> Duration {
        STEP.max(left / SHARE)
    }

    fn pass(&mut self, span: Duration) {
        if !span.is_zero() {
            self.servers.clock.advance(span);
        }
    }

    fn slack(&self) -> Duration {
        Duration::ZERO
    }

    fn without_expiry(&self) -> Vec<String> {
        let keys = self.servers.nodes().iter().flat_map(Redis::keys_without_expiry);
        keys.filter(|key| key.contains(&format!(":{}:", self.app))).collect()
    }

    fn end(&mut self) {}
}
