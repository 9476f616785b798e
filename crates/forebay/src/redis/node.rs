//! One node: calls that never outlast their budget.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use super::{
    Road, Tools, Unusable,
    breaker::Breaker,
    home::Home,
    lane::{Lane, State},
    reply::{Reply, Trouble},
    request::{Request, Role},
    trips::Trips,
};
use crate::{
    clock::{Latest, Moment},
    observe::CommandOutcome,
    sync::Mutex,
};

/// With more calls on their way than this, one waits behind others rather than for the server.
const CROWD: usize = 32;

/// How long a call may wait behind others that are being answered.
const CROWDED: Duration = Duration::from_secs(5);

/// For how long a refusal is told of.
const REFUSED: Duration = Duration::from_secs(10);

/// How late a timer may be before it says more about this process than about Redis.
const STARVED: Duration = Duration::from_millis(5);

/// One node, in the hands of its supervisor.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    /// Its number among those that tell of writes.
    pub(super) number: u64,
    pub(super) home: Home,
    pub(super) tools: Tools,
    pub(super) usual: Lane,
    /// For large values, opened when the first one comes.
    pub(super) large: OnceLock<Arc<Lane>>,
    /// For what waits at the server, likewise.
    pub(super) apart: OnceLock<Arc<Lane>>,
    pub(super) breaker: Breaker,
    /// How long it takes to answer.
    pub(super) trips: Trips,
    pub(super) answers: AtomicU64,
    in_flight: AtomicUsize,
    /// When somebody last came into a crowd.
    crowd: Latest,
    /// When somebody who still waited was last answered.
    answered: Latest,
    refusal: Mutex<Option<(Moment, String)>>,
    /// How often it was connected: a call that began before is no news of the present connection.
    pub(super) links: AtomicU64,
    pub(super) stopped: CancellationToken,
    /// The run of the server at the last connection, once there was one.
    pub(super) run: Mutex<Option<Option<String>>>,
}

impl Node {
    pub(super) fn start(name: String, home: Home, tools: Tools) -> Arc<Self> {
        let node = Arc::new(Self {
            name,
            number: tools.tracking.number(),
            home,
            usual: Lane::default(),
            large: OnceLock::new(),
            apart: OnceLock::new(),
            breaker: Breaker::default(),
            trips: Trips::default(),
            answers: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            crowd: Latest::default(),
            answered: Latest::default(),
            refusal: Mutex::default(),
            links: AtomicU64::new(0),
            stopped: CancellationToken::new(),
            run: Mutex::default(),
            tools,
        });
        node.tools.tasks.spawn(node.clone().until_stopped(node.clone().supervise()));
        node
    }

    /// Ends the connections: the node has no part in the cluster any more.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
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

    /// What the node has refused to do lately, though it can be asked.
    pub(super) fn refusal(&self) -> Option<String> {
        let refusal = self.refusal.lock();
        let (at, code) = refusal.as_ref()?;
        (self.tools.clock.now().since(*at) < REFUSED).then(|| format!("it answers {code}"))
    }

    /// Asks the node, until `until` at the latest, or for as long as a crowd of calls is being answered.
    pub(super) async fn call(
        self: &Arc<Self>,
        request: &Request<'_>,
        road: Road,
        until: Moment,
        role: Role,
    ) -> Result<Reply, Trouble> {
        let started = self.tools.clock.reading();
        let began = Moment::of(started);
        if self.is_down() || until <= began {
            self.tools.told(request, CommandOutcome::NotSent, Duration::ZERO);
            return Err(Trouble::NotSent);
        }
        let _counted = InFlight::enter(&self.in_flight);
        let link = self.links.load(Relaxed);
        let answer = self.in_turn(began, until, self.attempt(request, road, role)).await;
        let is_news = road == Road::Usual && self.links.load(Relaxed) == link;
        let (ended, failed) = self.note(request, road, answer.as_ref(), started);
        if is_news && self.breaker.record(ended, failed) {
            self.leave_alone("it does not answer in time");
        }
        match answer {
            Some(Err(Trouble::Node(reason))) => {
                self.leave_alone(reason);
                Err(Trouble::Node(reason))
            }
            Some(Err(Trouble::Refused(code))) => {
                self.tools.journal.warn("commands", &format!("it answers {code}"));
                *self.refusal.lock() = Some((self.tools.clock.now(), code.clone()));
                Err(Trouble::Refused(code))
            }
            Some(answer) => answer,
            None => Err(Trouble::Lost),
        }
    }

    /// Takes note of how a call went, and says when it has ended, and whether that was without an answer.
    fn note(
        &self,
        request: &Request<'_>,
        road: Road,
        answer: Option<&Result<Reply, Trouble>>,
        started: Duration,
    ) -> (Moment, bool) {
        let done = self.tools.clock.reading();
        let (ended, took) = (Moment::of(done), done.saturating_sub(started));
        // What an operator asks takes a server longer than what callers do.
        let is_usual = road == Road::Usual && !matches!(request, Request::Look { .. } | Request::Scan { .. });
        if is_usual && !matches!(answer, Some(Err(Trouble::NotSent))) {
            self.trips.record(done, took);
        }
        self.tools.told(request, outcome(answer), took);
        let failed = matches!(answer, None | Some(Err(Trouble::Lost | Trouble::NotSent)));
        if !failed {
            self.answers.fetch_add(1, Relaxed);
            self.answered.tell(ended);
        }
        (ended, failed)
    }

    /// Runs `work` until `until`; in a crowd, until nobody has been answered for a budget's time. A burst of calls
    /// is slow because there are many, and going on without Redis would make as many loads.
    async fn in_turn<T>(&self, began: Moment, mut until: Moment, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        let clock = &self.tools.clock;
        let limit = began.after(CROWDED);
        let mut now = began;
        if self.in_flight() > CROWD {
            self.crowd.tell(began);
        }
        loop {
            if let Some(done) = self.within_from(now, until, &mut work).await {
                return Some(done);
            }
            until = self.answered.get().after(self.tools.budget).min(limit);
            // Also the last one of a crowd, which has gone by then.
            let alone = self.crowd.get() < began;
            now = clock.now();
            if alone || until <= now {
                return None;
            }
        }
    }

    /// Runs `work` until `until`. A timer that is late has been kept waiting with the answer: both came while
    /// this process could not run. It may then take for as long again as the timer was late.
    pub(super) async fn within<T>(&self, until: Moment, work: impl Future<Output = T>) -> Option<T> {
        self.within_from(self.tools.clock.now(), until, work).await
    }

    async fn within_from<T>(&self, now: Moment, until: Moment, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        let clock = &self.tools.clock;
        if let Some(done) = clock.timeout(until.since(now), &mut work).await {
            return Some(done);
        }
        let late = clock.now().since(until);
        if late > STARVED { clock.timeout(late.min(self.tools.budget), work).await } else { None }
    }

    async fn attempt(
        self: &Arc<Self>,
        request: &Request<'_>,
        road: Road,
        role: Role,
    ) -> Result<Reply, Trouble> {
        let lane = self.lane(road);
        // What seldom happens lies apart, where it makes no other call larger.
        let link = match lane.ready() {
            Some(link) => link,
            None => Box::pin(lane.link(None)).await.ok_or(Trouble::NotSent)?,
        };
        // Another server than the one that was introduced: what it may lack is not known yet.
        if road != Road::Usual && *self.run.lock() != Some(link.run.clone()) {
            return Err(Trouble::NotSent);
        }
        match request.send(&link.courier, role).await {
            // The server may have closed a connection that nobody used.
            Err(Trouble::Lost) if request.is_idempotent() => {
                let again = async {
                    let link = lane.link(Some(&link)).await.ok_or(Trouble::Lost)?;
                    request.send(&link.courier, role).await
                };
                Box::pin(again).await
            }
            answer => answer,
        }
    }

    fn lane(self: &Arc<Self>, road: Road) -> &Lane {
        let side = match road {
            Road::Usual => return &self.usual,
            Road::Large => &self.large,
            Road::Apart => &self.apart,
        };
        side.get_or_init(|| {
            let lane = Arc::new(Lane::default());
            let kept = self.clone().keep(lane.clone());
            self.tools.tasks.spawn(self.clone().until_stopped(kept));
            lane
        })
    }

    /// Lets nobody ask the node until it has been connected anew.
    pub(super) fn leave_alone(&self, reason: &'static str) {
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
}

fn outcome(answer: Option<&Result<Reply, Trouble>>) -> CommandOutcome {
    match answer {
        None => CommandOutcome::TimedOut,
        Some(Ok(_) | Err(Trouble::Moved(_) | Trouble::Ask(_))) => CommandOutcome::Answered,
        Some(Err(Trouble::Lost)) => CommandOutcome::Lost,
        Some(Err(Trouble::NotSent)) => CommandOutcome::NotSent,
        Some(Err(Trouble::NoScript | Trouble::Node(_) | Trouble::Refused(_))) => CommandOutcome::Refused,
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
