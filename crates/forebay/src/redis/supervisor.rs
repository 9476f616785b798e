//! The task that keeps a node connected, and finds out when it cannot be used.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use redis::{ConnectionAddr, PushInfo};

use super::{
    lane::{FIRST_PAUSE, LAST_PAUSE, Lane, State},
    link::{CONNECT, Link},
    node::Node,
    tracking::Wire,
};

/// How often a node is looked after that nobody asks.
const WATCH: Duration = Duration::from_millis(500);

/// A node that does not answer the supervisor for so long is silent: a hole tells nothing by itself.
const SILENT: Duration = Duration::from_millis(250);

/// The same where an answer may wait behind others.
const PATIENT: Duration = Duration::from_secs(2);

impl Node {
    pub(super) async fn until_stopped(self: Arc<Self>, work: impl Future<Output = ()>) {
        tokio::select! {
            () = work => {}
            () = self.tools.tasks.stopping() => {}
            () = self.stopped.cancelled() => {}
        }
        // Nothing else closes the connections.
        let sides = [&self.large, &self.apart].into_iter().filter_map(|side| side.get());
        for lane in sides.map(Arc::as_ref).chain([&self.usual]) {
            lane.set(State::Down("it is not asked any more".into()));
        }
        self.tools.tracking.is_down(self.number);
    }

    pub(super) async fn supervise(self: Arc<Self>) {
        let mut pause = FIRST_PAUSE;
        loop {
            let wire = self.tools.tracking.wire(self.number);
            let pushed = wire.clone();
            match self.connect(self.tools.budget, move |push| pushed.hear(push)).await {
                Ok((link, place)) => {
                    pause = FIRST_PAUSE;
                    self.take_up(Arc::new(link), &place, &wire).await;
                    wire.lose();
                }
                Err(reason) => {
                    self.stay_down(&reason);
                    self.rest(&mut pause).await;
                }
            }
        }
    }

    /// A connection to where the node is now, and where that is.
    async fn connect(
        &self,
        budget: Duration,
        heard: impl Fn(&PushInfo) + Send + Sync + 'static,
    ) -> Result<(Link, ConnectionAddr), String> {
        let info = self.home.find().await?;
        let link = Link::open(&info, &self.tools.clock, &self.tools.tasks, budget, heard).await?;
        Ok((link, info.addr().clone()))
    }

    /// Opens the node for calls until its link is lost or left.
    async fn take_up(&self, link: Arc<Link>, place: &ConnectionAddr, wire: &Wire) {
        let before = self.run.lock().replace(link.run.clone());
        if before.is_some_and(|before| before.is_none() || before != link.run) {
            self.tools.hooks.server_changed();
        }
        self.links.fetch_add(1, Relaxed);
        self.breaker.reset();
        wire.open();
        self.usual.set(State::Ready(link.clone()));
        self.tools.journal.recovered(&self.name);
        let is_lost = tokio::select! {
            is_lost = self.attend(&link, place) => is_lost,
            never = wire.keep(&link.courier, &self.tools) => match never {},
        };
        if is_lost {
            self.usual.state.send_if_modified(|state| {
                let ready = matches!(state, State::Ready(_));
                if ready {
                    *state = State::Connecting;
                }
                ready
            });
        }
    }

    /// Looks after a link until it is lost or leads to the wrong server, which is true, or left.
    async fn attend(&self, link: &Link, place: &ConnectionAddr) -> bool {
        let mut leaves = pin!(self.home.leaves(place));
        let mut answers = self.answers.load(Relaxed);
        loop {
            tokio::select! {
                biased;
                () = self.usual.give_up.notified() => return false,
                () = link.lost.cancelled() => return true,
                () = &mut leaves => return true,
                () = self.tools.clock.sleep(WATCH) => {}
            }
            self.tools.journal.recovered(&self.name);
            let before = std::mem::replace(&mut answers, self.answers.load(Relaxed));
            if before == answers && !self.is_heard(link).await {
                self.leave_alone("it does not answer");
            }
        }
    }

    /// Whether a node that nobody has asked lately answers. It has no less time for that than for a call.
    async fn is_heard(&self, link: &Link) -> bool {
        let until = self.tools.clock.now().after(SILENT.max(self.tools.budget));
        self.within(until, link.pings()).await == Some(true)
    }

    fn stay_down(&self, reason: &str) {
        let before = self.usual.state.send_replace(State::Down(reason.into()));
        self.tools.tracking.is_down(self.number);
        if !matches!(before, State::Down(_)) {
            self.tools.journal.warn(&self.name, reason);
            self.tools.hooks.unusable();
        }
    }

    async fn rest(&self, pause: &mut Duration) {
        let jittered = pause.mul_f64(1.0 + 0.2 * self.tools.dice.swing());
        self.tools.clock.sleep(jittered).await;
        *pause = (*pause * 2).min(LAST_PAUSE);
    }

    /// Completes when a link of a side lane is lost, or does not answer behind what it carries.
    async fn until_silent(&self, link: &Link) {
        loop {
            tokio::select! {
                () = link.lost.cancelled() => return,
                () = self.tools.clock.sleep(WATCH) => {}
            }
            let until = self.tools.clock.now().after(PATIENT);
            if self.within(until, link.pings()).await != Some(true) {
                return;
            }
        }
    }

    /// Keeps a side lane connected; the usual one decides whether the node is in use.
    pub(super) async fn keep(self: Arc<Self>, lane: Arc<Lane>) {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.connect(CONNECT, |_| ()).await {
                Ok((link, place)) => {
                    pause = FIRST_PAUSE;
                    let link = Arc::new(link);
                    lane.set(State::Ready(link.clone()));
                    tokio::select! {
                        () = self.until_silent(&link) => {}
                        () = self.home.leaves(&place) => {}
                    }
                    lane.set(State::Connecting);
                }
                Err(reason) => {
                    self.tools
                        .journal
                        .warn(&self.name, &format!("on a connection beside the usual one: {reason}"));
                    lane.set(State::Down(reason.into()));
                    self.rest(&mut pause).await;
                }
            }
        }
    }
}
