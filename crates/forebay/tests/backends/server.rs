//! A store on real servers, which all cases of a process share: each has an application, and so keys, of its own.

use std::{
    cell::RefCell,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use forebay::{
    Forebay,
    clock::{Clock, Manual},
    status::{RedisStatus, Status},
};
use forebay_rig::{Pace, Redis};

use crate::{notes::Notes, rig::Rig, scripts};

/// Servers under test.
pub(crate) trait Servers: Sized + 'static {
    /// How long a message may be on its way from any of them.
    const MOMENT: Duration;

    fn start() -> Self;
    fn url(&self) -> String;
    fn nodes(&self) -> &[Redis];

    /// Where those are found that run already.
    fn running() -> &'static Running<Self>;
}

/// Servers that end with the last case that uses them.
pub(crate) type Running<S> = Mutex<Weak<S>>;

fn share<S: Servers>() -> Arc<S> {
    let mut running = S::running().lock().unwrap_or_else(PoisonError::into_inner);
    running.upgrade().unwrap_or_else(|| {
        let servers = Arc::new(S::start());
        teach(servers.nodes());
        *running = Arc::downgrade(&servers);
        servers
    })
}

/// Has every script known to every node: the first call of one takes a round trip more, in which other calls go before.
fn teach(nodes: &[Redis]) {
    for (_, script) in scripts::all() {
        for node in nodes {
            node.call(&["SCRIPT", "LOAD", &script]);
        }
    }
}

/// How the keys of a case come to be older.
pub(crate) trait Ages {
    /// How much of a time that is `left` passes at once, of which each step is a round trip to every node.
    fn step(&self, left: Duration) -> Duration;

    fn pass(&mut self, span: Duration);

    /// By how much a key may be older than it should.
    fn slack(&self) -> Duration;

    /// The keys that would stay for ever, as of the last call of `pass`.
    fn without_expiry(&self) -> Vec<String>;

    /// Ends every key that has an expiry.
    fn end(&mut self);
}

impl Ages for Vec<Pace> {
    fn step(&self, left: Duration) -> Duration {
        STEP.max(left / SHARE)
    }

    fn pass(&mut self, span: Duration) {
        self.iter_mut().for_each(|pace| pace.pass(span));
    }

    fn slack(&self) -> Duration {
        self.iter().map(Pace::slack).max().unwrap_or_default()
    }

    fn without_expiry(&self) -> Vec<String> {
        self.iter().flat_map(Pace::without_expiry).collect()
    }

    fn end(&mut self) {
        self.iter_mut().for_each(Pace::end);
    }
}

/// A `Forebay` over servers, on a clock that the rig moves together with the keys.
pub(crate) struct ServerRig<S> {
    pub(crate) app: String,
    forebay: Forebay,
    time: Manual,
    ages: RefCell<Box<dyn Ages>>,
    pub(crate) notes: Notes,
    pub(crate) servers: Arc<S>,
}

/// Time passes in steps, so that what is due in between happens in between.
const STEP: Duration = Duration::from_millis(25);

/// Of a long span no more than this share passes at a time.
const SHARE: u32 = 100;

const TURNS: usize = 64;

impl<S: Servers> ServerRig<S> {
    pub(crate) async fn new() -> Self {
        Self::over(share()).await
    }

    pub(crate) async fn over(servers: Arc<S>) -> Self {
        let paced = |servers: &S, app: &str| {
            servers.nodes().iter().map(|node| node.pace(&format!("*:{app}:*"))).collect::<Vec<_>>()
        };
        Self::ageing(servers, |servers, app| Box::new(paced(servers, app))).await
    }

    /// Over servers whose keys age in a way of their own, which is told the application.
    pub(crate) async fn ageing(servers: Arc<S>, ages: impl FnOnce(&S, &str) -> Box<dyn Ages>) -> Self {
        static CASES: AtomicUsize = AtomicUsize::new(0);
        let app = format!("case-{}", CASES.fetch_add(1, Relaxed));
        let ((clock, time), notes) = (Clock::manual(), Notes::default());
        let builder = Forebay::builder(&app).redis(servers.url()).redis_budget(Duration::from_secs(5));
        let forebay = builder.clock(clock).observe(notes.clone()).build().await.expect("nothing to refuse");
        let ages = RefCell::new(ages(&servers, &app));
        let rig = Self { app, forebay, time, ages, notes, servers };
        while !(rig.status().usable && rig.status().hears) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        rig
    }

    fn status(&self) -> RedisStatus {
        match self.forebay.status() {
            Status::Redis(status) => status,
            other => panic!("the rig runs on {other:?}"),
        }
    }

    /// Makes the keys older by `span` in all since the last time.
    fn age(&self, span: Duration) {
        self.ages.borrow_mut().pass(span);
        assert_eq!(self.ages.borrow().without_expiry(), Vec::<String>::new());
    }

    /// Lets everything happen that waits for an answer.
    async fn quiesce(&self) {
        for _ in 0..2 {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
            while self.status().in_flight > 0 {
                tokio::time::sleep(Duration::from_micros(100)).await;
            }
        }
    }
}

impl<S: Servers> Rig for ServerRig<S> {
    fn forebay(&self) -> &Forebay {
        &self.forebay
    }

    async fn pass(&self, span: Duration) {
        let mut left = span;
        self.settle().await;
        while !left.is_zero() {
            let step = left.min(self.ages.borrow().step(left));
            self.age(step);
            self.time.advance(step);
            self.quiesce().await;
            left -= step;
        }
        self.settle().await;
    }

    /// Messages of the server are not counted as they come: they get a moment.
    async fn settle(&self) {
        self.quiesce().await;
        tokio::time::sleep(S::MOMENT).await;
        self.quiesce().await;
        self.age(Duration::ZERO);
    }

    fn slack(&self) -> Duration {
        self.age(Duration::ZERO);
        self.ages.borrow().slack()
    }
}

impl<S> Drop for ServerRig<S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let ages = self.ages.get_mut();
        ages.end();
        assert_eq!(ages.without_expiry(), Vec::<String>::new());
    }
}
