//! The store that processes share: a HyperLogLog for each day, and one round trip for a thousand visitors.

mod flusher;
mod scripts;

use std::{fmt, sync::Arc, time::Duration};

use futures::FutureExt;
use jiff::civil::{Date, date};
use tokio::sync::{Mutex as Turn, Notify};

pub(super) use self::flusher::{drop_rest, keep_flushing};
use self::scripts::{COUNT, RECORD};
use super::{
    backend::{Answer, Asked, Backend, Counted},
    buffer::{Batch, Buffer, Next, Noted},
    calendar::{self, Calendar},
    count::Figures,
    time::ServerTime,
    visitor::Visitor,
};
use crate::{
    clock::{Clock, Moment},
    context::Remote,
    key::{Keys, Name},
    observe::{Event, Observe, VisitorsOutcome},
    redis::{Reply, Request, Road, Script, Unusable},
    sync::Mutex,
};

/// How often a day is asked for again that has ended, or turned out to be another one, meanwhile.
const ATTEMPTS: usize = 3;

/// A day that has no visitors: it leads to the server whose time is asked for.
const NO_DAY: Date = date(1970, 1, 1);

/// One counter in Redis.
pub(crate) struct RedisBackend {
    pub(super) counter: Name,
    pub(super) calendar: Calendar,
    pub(super) keys: Keys,
    pub(super) remote: Remote,
    /// The clock of this process, by which it is known how long ago somebody came.
    pub(super) clock: Clock,
    pub(super) observe: Arc<dyn Observe>,
    pub(super) buffer: Mutex<Buffer>,
    /// Whose turn it is to send what waits.
    pub(super) turn: Turn<()>,
    pub(super) first: Notify,
    pub(super) batch: Notify,
}

impl RedisBackend {
    /// Sends what waits, until nobody waits who did when this was called. Each answer gives it a budget more.
    async fn flush(&self, mut until: Moment) -> Result<(), Unusable> {
        let mut end = self.buffer.lock().pending.end();
        let turn = self.remote.redis.clock().timeout(self.left(until), self.turn.lock());
        let _turn = turn.await.ok_or(Unusable::NotDone)?;
        let mut vain = 0;
        while vain < ATTEMPTS {
            let next = self.buffer.lock().next(end, self.clock.now());
            match next {
                Next::Nothing => return Ok(()),
                Next::Again => {}
                Next::Time => {
                    self.ask(&[NO_DAY], until).await?;
                    vain += 1;
                }
                Next::Send(batch) => match self.send(&batch, until).await? {
                    true => end = self.counted(&batch).unwrap_or(end),
                    false => vain += 1,
                },
            }
            until = self.remote.redis.budget(Road::Usual);
        }
        Err(Unusable::NotDone)
    }

    /// Has a batch counted; not if its day is none that these visitors came on, by the server's clock.
    async fn send(&self, batch: &Batch, until: Moment) -> Result<bool, Unusable> {
        let sent = self.clock.now();
        let [first, last] = batch.ages(sent);
        let numbers = [batch.day.from, batch.day.until, self.calendar.ends(&batch.day), first, last];
        let words = numbers.map(|number| number.to_string());
        let visitors = batch.visitors.iter().map(|waiting| waiting.visitor.bytes());
        let arguments: Vec<&[u8]> = words.iter().map(String::as_bytes).chain(visitors).collect();
        Ok(self.run(&RECORD, &[batch.day.date], &arguments, until).await? == 1)
    }

    /// The end of those that wait, if some of the batch wait on.
    fn counted(&self, batch: &Batch) -> Option<u64> {
        self.say(VisitorsOutcome::Counted, batch.visitors.len() as u64);
        let mut buffer = self.buffer.lock();
        buffer.counted(batch, self.clock.now()).then(|| buffer.pending.end())
    }

    fn say(&self, outcome: VisitorsOutcome, visitors: u64) {
        self.observe.record(Event::Visitors { counter: self.counter.as_str(), outcome, visitors });
    }

    /// How many visitors came on the days together. What time it is, is known afterwards.
    async fn ask(&self, days: &[Date], until: Moment) -> Result<u64, Unusable> {
        let visitors = self.run(&COUNT, days, &[], until).await?;
        u64::try_from(visitors).map_err(|_| Unusable::NotDone)
    }

    async fn count(&self, asked: Asked) -> Result<Counted, Unusable> {
        let mut until = self.remote.redis.budget(Road::Usual);
        match self.flush(until).await {
            Ok(()) => until = self.remote.redis.budget(Road::Usual),
            // A server that refuses to be written to can be asked all the same, with what is left of the budget.
            Err(Unusable::NotDone) => {}
            Err(Unusable::Unanswered) => return Err(Unusable::Unanswered),
        }
        for _ in 0..ATTEMPTS {
            let Some(today) = self.today() else {
                self.ask(&[NO_DAY], until).await?;
                continue;
            };
            let span = asked.span(today);
            let visitors = self.ask(&days(span), until).await?;
            if self.today() == Some(today) {
                return Ok(Counted { visitors, span, today });
            }
        }
        Err(Unusable::NotDone)
    }

    fn today(&self) -> Option<Date> {
        Some(self.buffer.lock().today(self.clock.now())?.date)
    }

    /// Runs a script that answers the server's time, and something.
    async fn run(
        &self,
        script: &Script,
        days: &[Date],
        arguments: &[&[u8]],
        until: Moment,
    ) -> Result<i64, Unusable> {
        let keys: Vec<_> = days.iter().map(|day| self.keys.unique(&self.counter, &day.to_string())).collect();
        let request = Request::Run { script, keys: &keys, arguments };
        let sent = self.clock.now();
        let reply = self.remote.redis.call(request, Road::Usual, until).await?.into_list();
        let [time, answer] = &reply[..] else { return Err(Unusable::NotDone) };
        self.learn(time, sent);
        answer.number().ok_or(Unusable::NotDone)
    }

    fn learn(&self, time: &Reply, sent: Moment) {
        let now = self.clock.now();
        if let Some(time) = time.number().and_then(|time| ServerTime::of(time, sent, now)) {
            self.buffer.lock().set(time, now);
        }
    }

    fn left(&self, until: Moment) -> Duration {
        until.since(self.remote.redis.clock().now())
    }

    /// Says what was dropped, and in the log only seldom.
    fn tell_dropped(&self) {
        let [event, log] = self.buffer.lock().tell(self.clock.now());
        if event > 0 {
            self.say(VisitorsOutcome::Dropped, event);
        }
        if log > 0 {
            let counter = self.counter.as_str();
            tracing::warn!(
                counter,
                dropped = log,
                "visitors were not counted: too many waited, or for too long"
            );
        }
    }
}

/// All days of a span, the first and the last among them.
fn days([first, last]: [Date; 2]) -> Vec<Date> {
    let next = |date: &Date| (*date < last).then(|| calendar::after(*date, 1));
    std::iter::successors(Some(first), next).collect()
}

impl Backend for RedisBackend {
    fn record(&self, visitor: Visitor) {
        let now = self.clock.now();
        let noted = self.buffer.lock().record(visitor, now);
        match noted {
            Noted::Quietly => {}
            Noted::First => self.first.notify_one(),
            Noted::Batch => self.batch.notify_one(),
        }
    }

    fn flush(&self) -> Answer<'_, ()> {
        async {
            let flushed = self.flush(self.remote.redis.budget(Road::Usual)).await;
            self.tell_dropped();
            flushed
        }
        .boxed()
    }

    fn count(&self, asked: Asked) -> Answer<'_, Counted> {
        self.count(asked).boxed()
    }

    fn figures(&self) -> Figures {
        let buffer = self.buffer.lock();
        Figures { pending: buffer.pending.len(), dropped: buffer.dropped() }
    }

    fn close(&self) -> usize {
        let waited = self.buffer.lock().close();
        self.tell_dropped();
        waited
    }
}

impl fmt::Debug for RedisBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBackend").field("counter", &self.counter).finish_non_exhaustive()
    }
}
