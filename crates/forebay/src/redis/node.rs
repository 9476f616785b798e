//! One node under supervision: calls that never outlast their budget, and the task that keeps it connected.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use redis::ConnectionInfo;

use super::{
    Road, Tools, Unusable,
    breaker::Breaker,
    lane::{FIRST_PAUSE, LAST_PAUSE, Lane, State},
    link::{CONNECT, Link},
    reply::{Reply, Trouble},
    request::Request,
};
use crate::{clock::Moment, sync::Mutex};

/// How often a node is looked after that nobody asks.
const WATCH: Duration = Duration::from_millis(500);

/// A node that does not answer the supervisor for so long is silent: a hole tells nothing by itself.
const SILENT: Duration = Duration::from_millis(250);

/// How late a timer may be before it says more about this process than about Redis.
const STARVED: Duration = Duration::from_millis(5);

/// One node, in the hands of its supervisor.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    info: ConnectionInfo,
    tools: Tools,
    usual: Lane,
    /// For large values, opened when the first one comes.
    large: OnceLock<Arc<Lane>>,
    breaker: Breaker,
    answers: AtomicU64,
    in_flight: AtomicUsize,
    /// The run of the server at the last connection, once there was one.
    run: Mutex<Option<Option<String>>>,
}

impl Node {
    pub(super) fn start(name: String, info: ConnectionInfo, tools: Tools) -> Arc<Self> {
        let node = Arc::new(Self {
            name,
            info,
            usual: Lane::default(),
            large: OnceLock::new(),
            breaker: Breaker::default(),
            answers: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            run: Mutex::default(),
            tools,
        });
        node.tools.tasks.spawn(node.clone().until_stopped(node.clone().supervise()));
        node
    }

    pub(super) fn info(&self) -> &ConnectionInfo {
        &self.info
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Relaxed)
    }

    pub(super) fn is_down(&self) -> bool {
        self.usual.is_down()
    }

    pub(super) fn reason(&self) -> Option<String> {
        self.usual.reason()
    }

    /// Asks the node, until `until` at the latest.
    pub(super) async fn call(
        self: &Arc<Self>,
        request: &Request<'_>,
        road: Road,
        until: Moment,
        asking: bool,
    ) -> Result<Reply, Trouble> {
        if self.is_down() || until <= self.tools.clock.now() {
            return Err(Trouble::NotSent);
        }
        let _counted = InFlight::enter(&self.in_flight);
        let answer = self.within(until, self.attempt(request, road, asking)).await;
        let failed = matches!(answer, None | Some(Err(Trouble::Lost | Trouble::NotSent)));
        if !failed {
            self.answers.fetch_add(1, Relaxed);
        }
        if road == Road::Usual && self.breaker.record(self.tools.clock.now(), failed) {
            self.leave_alone("it does not answer in time");
        }
        match answer {
            Some(Err(Trouble::Node(reason))) => {
                self.leave_alone(reason);
                Err(Trouble::Node(reason))
            }
            Some(Err(Trouble::Refused(code))) => {
                self.tools.journal.warn(&self.name, &format!("it answers {code}"));
                Err(Trouble::Refused(code))
            }
            Some(answer) => answer,
            None => Err(Trouble::Lost),
        }
    }

    /// Runs `work` until `until`. A timer that is late has been kept waiting with the answer: both came while
    /// this process could not run. It may then take for as long again as the timer was late.
    async fn within<T>(&self, until: Moment, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        let clock = &self.tools.clock;
        let done = clock.timeout(until.since(clock.now()), &mut work).await;
        let late = clock.now().since(until);
        if done.is_none() && late > STARVED {
            return clock.timeout(late.min(self.tools.budget), work).await;
        }
        done
    }

    async fn attempt(
        self: &Arc<Self>,
        request: &Request<'_>,
        road: Road,
        asking: bool,
    ) -> Result<Reply, Trouble> {
        let lane = self.lane(road);
        let link = lane.link(None).await.ok_or(Trouble::NotSent)?;
        // Another server than the one that was introduced: what it may lack is not known yet.
        if road == Road::Large && *self.run.lock() != Some(link.run.clone()) {
            return Err(Trouble::NotSent);
        }
        match request.send(&link.connection, asking).await {
            // The server may have closed a connection that nobody used.
            Err(Trouble::Lost) if request.is_idempotent() => {
                let link = lane.link(Some(&link)).await.ok_or(Trouble::Lost)?;
                request.send(&link.connection, asking).await
            }
            answer => answer,
        }
    }

    fn lane(self: &Arc<Self>, road: Road) -> &Lane {
        match road {
            Road::Usual => &self.usual,
            Road::Large => self.large.get_or_init(|| {
                let lane = Arc::new(Lane::default());
                let kept = self.clone().keep(lane.clone());
                self.tools.tasks.spawn(self.clone().until_stopped(kept));
                lane
            }),
        }
    }

    /// Lets nobody ask the node until it has been connected anew.
    fn leave_alone(&self, reason: &'static str) {
        let opens = self.usual.state.send_if_modified(|state| {
            let ready = matches!(state, State::Ready(_));
            if ready {
                *state = State::Down(reason.into());
            }
            ready
        });
        if opens {
            self.tools.journal.warn(&self.name, reason);
            self.tools.hooks.unusable();
            self.usual.give_up.notify_one();
        }
    }

    async fn until_stopped(self: Arc<Self>, work: impl Future<Output = ()>) {
        tokio::select! {
            () = work => {}
            () = self.tools.tasks.stopping() => {
                self.usual.set(State::Down("it is being shut down".into()));
            }
        }
    }

    async fn supervise(self: Arc<Self>) {
        let mut pause = FIRST_PAUSE;
        loop {
            match Link::open(&self.info, &self.tools.clock, self.tools.budget).await {
                Ok(link) => {
                    pause = FIRST_PAUSE;
                    self.take_up(Arc::new(link)).await;
                }
                Err(reason) => {
                    self.stay_down(&reason);
                    self.rest(&mut pause).await;
                }
            }
        }
    }

    /// Opens the node for calls until its link is lost or left.
    async fn take_up(&self, link: Arc<Link>) {
        let was_down = self.is_down();
        let before = self.run.lock().replace(link.run.clone());
        if before.is_some_and(|before| before.is_none() || before != link.run) {
            self.tools.hooks.server_changed();
        }
        self.breaker.reset();
        self.usual.set(State::Ready(link.clone()));
        if was_down {
            self.tools.journal.recovered(&self.name);
        }
        if self.attend(&link).await {
            self.usual.state.send_if_modified(|state| {
                let ready = matches!(state, State::Ready(_));
                if ready {
                    *state = State::Connecting;
                }
                ready
            });
        }
    }

    /// Looks after a link until it is lost, which is true, or left.
    async fn attend(&self, link: &Link) -> bool {
        let mut answers = self.answers.load(Relaxed);
        loop {
            tokio::select! {
                () = link.lost.cancelled() => return true,
                () = self.usual.give_up.notified() => return false,
                () = self.tools.clock.sleep(WATCH) => {}
            }
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

    /// Keeps the lane for large values connected; the usual one decides whether the node is in use.
    async fn keep(self: Arc<Self>, lane: Arc<Lane>) {
        let mut pause = FIRST_PAUSE;
        loop {
            match Link::open(&self.info, &self.tools.clock, CONNECT).await {
                Ok(link) => {
                    pause = FIRST_PAUSE;
                    let lost = link.lost.clone();
                    lane.set(State::Ready(Arc::new(link)));
                    lost.cancelled().await;
                    lane.set(State::Connecting);
                }
                Err(reason) => {
                    lane.set(State::Down(reason.into()));
                    self.rest(&mut pause).await;
                }
            }
        }
    }
}

impl From<Trouble> for Unusable {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Lost => Self::Unanswered,
            _ => Self::NotDone,
        }
    }
}

/// Counts a call while it is on its way.
struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
