//! "Something changed" between processes: what they tell each other, and how a lost word is found out.
//!
//! | to see | read |
//! |---|---|
//! | what is told | `message` |
//! | how the teller counts | `numbers`, `announcement` |
//! | how a hearer finds what it has missed | `ledger`, `account` |
//! | how long a word is on its way | `echo` |

mod account;
mod announcement;
mod echo;
mod ledger;
mod message;
mod numbers;

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

pub(crate) use self::{announcement::Announcement, message::Kind};
use self::{
    echo::Echo,
    ledger::{Finding, Ledger},
    message::Message,
    numbers::Numbers,
};
use crate::{
    clock::{Clock, Moment, TICK},
    dice::Dice,
    redis::{Redis, Request, Road, Signal},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    tasks::Tasks,
};

/// How often every process says that it lives.
const BEAT: Duration = Duration::from_millis(500);

/// How long a process may not know that it has missed a message.
const UNNOTICED: Duration = Duration::from_millis(1500);

/// What is heard on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard<'a> {
    /// An id was changed, by this process where `own`.
    Changed { space: &'a str, id: &'a str, kind: Kind, own: bool },
    /// The number of a tag was raised, or without one that of the whole space.
    Raised { space: &'a str, tag: Option<&'a str>, to: u64, own: bool },
    /// Something was missed. What follows is heard.
    Missed,
    /// Nothing is heard until the next [`Heard::Hearing`].
    Deaf,
    /// Everything is heard from now on.
    Hearing,
}

type Ear = Box<dyn Fn(Heard<'_>) + Send + Sync>;

/// The bus of one `Forebay`; cheap to clone. It falls silent with the last clone, or by [`Bus::leave`].
#[derive(Debug, Clone)]
pub(crate) struct Bus(Arc<Inner>);

struct Inner {
    redis: Redis,
    channel: String,
    publisher: u64,
    numbers: Numbers,
    ledger: Mutex<Ledger>,
    echo: Echo,
    heard: AtomicU64,
    hearing: AtomicBool,
    /// When a subscription was begun, or the last one confirmed.
    subscribed: Mutex<Moment>,
    ear: Ear,
    tasks: Tasks,
}

/// What an operator sees of a bus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) hears: bool,
    pub(crate) staleness_bound: Duration,
    pub(crate) gaps: u64,
    pub(crate) messages: u64,
    pub(crate) lag: Duration,
    pub(crate) others: usize,
}

impl Bus {
    /// Begins to hear, and to say that it lives. `ear` must be quick.
    pub(crate) fn open(
        redis: &Redis,
        channel: String,
        dice: &Dice,
        tasks: &Tasks,
        ear: impl Fn(Heard<'_>) + Send + Sync + 'static,
    ) -> Self {
        let publisher = dice.bits();
        let ledger = Mutex::new(Ledger::new(publisher, redis.clock().now()));
        let bus = Self(Arc::new(Inner {
            channel: channel.clone(),
            publisher,
            numbers: Numbers::default(),
            ledger,
            echo: Echo::default(),
            heard: AtomicU64::new(0),
            hearing: AtomicBool::new(false),
            subscribed: Mutex::new(redis.clock().now()),
            ear: Box::new(ear),
            tasks: tasks.clone(),
            redis: redis.clone(),
        }));
        let hearer = Arc::downgrade(&bus.0);
        redis.listen(channel, move |signal| {
            if let Some(bus) = hearer.upgrade() {
                Inner::signal(&bus, signal);
            }
        });
        let clock = redis.clock().clone();
        tasks.spawn(live(Arc::downgrade(&bus.0), clock.clone(), tasks.clone()));
        tasks.spawn(watch(Arc::downgrade(&bus.0), clock, tasks.clone()));
        bus
    }

    /// Prepares to tell that `id` has changed. What the kind needs behind that is for the store to append.
    pub(crate) fn announce(&self, space: &str, id: &str, kind: Kind) -> Announcement<'_> {
        let number = self.0.numbers.take(self.0.redis.clock().now());
        let publisher = self.0.publisher;
        let message = Message::Change { publisher, number, kind, space, id, raised: None }.to_string();
        Announcement { bus: &self.0, number, message }
    }

    /// Says farewell, so that nobody takes the coming silence for a loss.
    pub(crate) async fn leave(&self) {
        let (publisher, tally) = (self.0.publisher, self.0.numbers.farewell());
        self.0.publish(&Message::Bye { publisher, tally }).await;
    }

    pub(crate) fn figures(&self) -> Figures {
        let ledger = self.0.ledger.lock();
        Figures {
            hears: self.0.hearing.load(SeqCst),
            staleness_bound: UNNOTICED + TICK,
            gaps: ledger.gaps(),
            messages: self.0.heard.load(SeqCst),
            lag: self.0.echo.lag(self.0.redis.clock().reading()),
            others: ledger.publishers(),
        }
    }
}

impl Inner {
    fn signal(this: &Arc<Self>, signal: Signal<'_>) {
        match signal {
            Signal::Confirmed => {
                *this.subscribed.lock() = this.redis.clock().now();
                Self::beat_soon(this);
            }
            Signal::Lost => this.turn(false),
            Signal::Message(bytes) => {
                if let Some(message) = Message::parse(bytes) {
                    this.hear(&message);
                }
            }
        }
    }

    /// What this process says and hears itself shows that it hears.
    fn beat_soon(this: &Arc<Self>) {
        let bus = this.clone();
        this.tasks.spawn(async move { bus.beat().await });
    }

    fn hear(&self, message: &Message<'_>) {
        self.heard.fetch_add(1, SeqCst);
        let heard = self.ledger.lock().heard(self.redis.clock().now(), message);
        if heard == ledger::Heard::Gap {
            (self.ear)(Heard::Missed);
        }
        match message {
            Message::Change { publisher, space, id, kind, raised: Some(to), .. } => {
                let (tag, own) = ((*kind == Kind::Tag).then_some(*id), *publisher == self.publisher);
                (self.ear)(Heard::Raised { space, tag, to: *to, own });
            }
            Message::Change { publisher, space, id, kind, .. } => {
                let own = *publisher == self.publisher;
                (self.ear)(Heard::Changed { space, id, kind: *kind, own });
            }
            Message::Beat { publisher, number, .. } if *publisher == self.publisher => {
                self.echo.heard(*number, self.redis.clock().reading());
                self.turn(true);
            }
            _ => {}
        }
    }

    fn turn(&self, hearing: bool) {
        if self.hearing.swap(hearing, SeqCst) != hearing {
            (self.ear)(if hearing { Heard::Hearing } else { Heard::Deaf });
        }
    }

    /// Looks for what should have been heard by now; answers when to look again.
    fn check(&self) -> Moment {
        let (finding, next) = {
            let mut ledger = self.ledger.lock();
            (ledger.check(self.redis.clock().now()), ledger.next_check())
        };
        match finding {
            Some(Finding::Gap) => (self.ear)(Heard::Missed),
            Some(Finding::Deaf) => {
                self.turn(false);
                // Where Redis is gone, that has been said.
                if self.redis.trouble().is_none() {
                    self.redis.report("bus", "no message comes back; process memory is not trusted");
                }
            }
            None => {}
        }
        if self.hearing.load(SeqCst) {
            self.redis.report_recovered("bus");
        } else {
            self.subscribe_anew();
        }
        next
    }

    /// While nothing is heard of a Redis that answers, another subscription may hear.
    fn subscribe_anew(&self) {
        let now = self.redis.clock().now();
        let mut subscribed = self.subscribed.lock();
        if now.since(*subscribed) >= UNNOTICED && self.redis.trouble().is_none() {
            *subscribed = now;
            self.redis.resubscribe();
        }
    }

    async fn beat(&self) {
        let now = self.redis.clock().reading();
        let tally = self.numbers.beat(Moment::of(now));
        let number = self.echo.sent(now);
        self.publish(&Message::Beat { publisher: self.publisher, tally, number }).await;
    }

    async fn publish(&self, message: &Message<'_>) {
        let message = message.to_string();
        let request = Request::Publish { channel: &self.channel, message: message.as_bytes() };
        // What is not heard is found out by those who listen.
        self.redis.call(request, Road::Usual, self.redis.budget(Road::Usual)).await.ok();
    }
}

/// Says now and then that this process lives, for as long as there is a bus.
async fn live(bus: Weak<Inner>, clock: Clock, tasks: Tasks) {
    loop {
        match bus.upgrade() {
            Some(bus) => bus.beat().await,
            None => return,
        }
        tokio::select! {
            () = clock.sleep(BEAT) => {}
            () = tasks.stopping() => return,
        }
    }
}

/// Finds what was missed, for as long as there is a bus.
async fn watch(bus: Weak<Inner>, clock: Clock, tasks: Tasks) {
    loop {
        let Some(next) = bus.upgrade().map(|bus| bus.check()) else { return };
        // What is heard meanwhile may be due earlier than what was known.
        let pause = next.since(clock.now()).clamp(TICK, BEAT / 10);
        tokio::select! {
            () = clock.sleep(pause) => {}
            () = tasks.stopping() => return,
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus").field("channel", &self.channel).finish_non_exhaustive()
    }
}
