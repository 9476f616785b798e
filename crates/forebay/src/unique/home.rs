//! Where counters are built: what all counters of one `Forebay` share.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::future::join_all;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    Unique,
    backend::Backend,
    buffer::Buffer,
    builder::Options,
    calendar::Calendar,
    memory::MemoryBackend,
    reader::Reader,
    redis::{RedisBackend, drop_rest, keep_flushing},
};
use crate::{
    clock::{self, Clock, Moment},
    context::{Context, Remote},
    error::{Error, ErrorKind},
    key::{Keys, Name},
    observe::{Event, Part},
    sync::Mutex,
};

/// The pause between attempts to have counted what waits.
const PAUSE: Duration = Duration::from_millis(20);

/// What all counters of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    context: Context,
    remote: Option<Remote>,
    /// The time of day when the clock of the process began.
    began: Duration,
    counters: Arc<Mutex<HashMap<Name, Weak<dyn Backend>>>>,
}

impl Home {
    /// In this process alone.
    pub(crate) fn memory(context: Context) -> Self {
        let began = clock::time_of_day().saturating_sub(context.clock.now().since(Moment::default()));
        Self { context, remote: None, began, counters: Arc::default() }
    }

    /// In Redis.
    pub(crate) fn redis(context: Context, remote: Remote) -> Self {
        Self { remote: Some(remote), ..Self::memory(context) }
    }

    pub(super) fn build(
        &self,
        counter: Name,
        calendar: Calendar,
        options: &Options,
    ) -> Result<Unique, Error> {
        let keep_days = calendar.keep_days();
        let mut counters = self.counters.lock();
        if counters.contains_key(&counter) {
            let why = format!("unique {counter} was built before in this Forebay; clone that one");
            return Err(Error::new(ErrorKind::Config, why));
        }
        let parted = CancellationToken::new();
        let backend: Arc<dyn Backend> = match &self.remote {
            None => Arc::new(self.here(calendar)),
            Some(remote) => {
                let (backend, tasks) =
                    (self.shared(remote, &counter, calendar, options.buffer), &self.context.tasks);
                tasks.spawn(keep_flushing(backend.clone(), parted.clone(), tasks.clone()));
                backend
            }
        };
        counters.insert(counter.clone(), Arc::downgrade(&backend));
        drop(counters);
        self.context.observe.record(Event::Built(Part::Counter(counter.as_str())));
        Ok(Unique::new(counter, keep_days, backend, parted.drop_guard()))
    }

    /// What reads a counter: the one of this process where there is one, so that those are counted who wait in it.
    pub(super) fn reader(&self, counter: Name, calendar: Calendar) -> Reader {
        let keep_days = calendar.keep_days();
        let built = self.counters.lock().get(&counter).and_then(Weak::upgrade);
        let backend = built.unwrap_or_else(|| match &self.remote {
            None => Arc::new(self.here(calendar)),
            Some(remote) => self.shared(remote, &counter, calendar, 0),
        });
        Reader(Unique::new(counter, keep_days, backend, CancellationToken::new().drop_guard()))
    }

    fn here(&self, calendar: Calendar) -> MemoryBackend {
        MemoryBackend::new(calendar, self.context.clock.clone(), self.began)
    }

    fn shared(&self, remote: &Remote, counter: &Name, calendar: Calendar, room: usize) -> Arc<RedisBackend> {
        let Context { app, clock, observe, .. } = &self.context;
        Arc::new(RedisBackend {
            counter: counter.clone(),
            buffer: Mutex::new(Buffer::new(calendar.clone(), room)),
            calendar,
            keys: Keys::new(app.clone()),
            remote: remote.clone(),
            clock: clock.clone(),
            observe: observe.clone(),
            turn: Default::default(),
            first: Notify::new(),
            batch: Notify::new(),
        })
    }

    /// Has everybody counted who waits, within `budget`, and drops the rest: whether there was none.
    pub(crate) async fn close(&self, clock: &Clock, budget: Duration) -> bool {
        let counters: Vec<_> = {
            let counters = self.counters.lock();
            counters.iter().filter_map(|(name, backend)| Some((name.clone(), backend.upgrade()?))).collect()
        };
        let flushed = join_all(counters.iter().map(|(_, backend)| flushed(&**backend, clock)));
        let all = clock.timeout(budget, flushed).await.is_some();
        counters.iter().for_each(|(name, backend)| drop_rest(&**backend, name.as_str()));
        all
    }
}

async fn flushed(backend: &dyn Backend, clock: &Clock) {
    while backend.flush().await.is_err() {
        clock.sleep(PAUSE).await;
    }
}
