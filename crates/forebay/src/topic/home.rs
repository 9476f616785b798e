//! Where topics are built: what all topics of one `Forebay` share.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use super::{
    backend::Backend,
    group,
    hub::Hub,
    memory::{MemoryBackend, Streams},
    redis::RedisBackend,
    tail::Tail,
};
use crate::{
    context::{Context, Remote},
    key::{Keys, Name},
    redis::{BUDGET, Road, Tuned},
    sync::Mutex,
    wake::Listener,
};

/// What all topics of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Home(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) context: Context,
    pub(super) keys: Keys,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) groups: Arc<dyn group::Backend>,
    remote: Option<Remote>,
    hubs: Arc<Hubs>,
    pub(super) tails: Shared<Tail>,
    /// The topics of the memory store.
    here: Option<Arc<Streams>>,
}

/// The hubs of the topics that somebody subscribes to.
pub(super) type Hubs = Shared<Hub>;

/// What those share who use it, by the topic; it ends with the last of them.
#[derive(Debug)]
pub(super) struct Shared<T>(Mutex<HashMap<Name, Weak<T>>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Shared<T> {
    pub(super) fn find(&self, topic: &Name) -> Option<Arc<T>> {
        self.0.lock().get(topic)?.upgrade()
    }

    /// What there is, or else what `make` makes; `begin` is done to it before anybody else has it.
    pub(super) fn find_or_make(
        &self,
        topic: &Name,
        make: impl FnOnce() -> T,
        begin: impl FnOnce(&Arc<T>),
    ) -> Arc<T> {
        let mut shared = self.0.lock();
        if let Some(found) = shared.get(topic).and_then(Weak::upgrade) {
            return found;
        }
        shared.retain(|_, one| one.strong_count() > 0);
        let made = Arc::new(make());
        begin(&made);
        shared.insert(topic.clone(), Arc::downgrade(&made));
        made
    }
}

/// Hears that there may be something new in a durable topic.
#[derive(Debug)]
pub(super) struct Bell {
    listener: Listener,
    _tuned: Option<Tuned>,
}

impl Bell {
    /// Completes at the first ring since the last call.
    pub(super) async fn rung(&mut self) {
        self.listener.woken().await;
    }
}

impl Home {
    /// In this process alone.
    pub(crate) fn memory(context: Context) -> Self {
        let hubs = Arc::<Hubs>::default();
        let streams = Arc::new(Streams::new(context.clock.clone()));
        let (keys, wake) = (Keys::new(context.app.clone()), context.wake.clone());
        let backend = Arc::new(MemoryBackend { keys, wake, hubs: hubs.clone(), streams: streams.clone() });
        Self::new(context, backend.clone(), backend, None, hubs, Some(streams))
    }

    /// In Redis.
    pub(crate) fn redis(context: Context, remote: Remote) -> Self {
        let keys = || Keys::new(context.app.clone());
        let backend = Arc::new(RedisBackend { keys: keys(), remote: remote.clone() });
        let groups = Arc::new(group::RedisBackend { keys: keys(), remote: remote.clone() });
        Self::new(context, backend, groups, Some(remote), Arc::default(), None)
    }

    fn new(
        context: Context,
        backend: Arc<dyn Backend>,
        groups: Arc<dyn group::Backend>,
        remote: Option<Remote>,
        hubs: Arc<Hubs>,
        here: Option<Arc<Streams>>,
    ) -> Self {
        let keys = Keys::new(context.app.clone());
        Self(Arc::new(Inner { context, keys, backend, groups, remote, hubs, tails: Shared::default(), here }))
    }

    /// The topics to sweep, where this process keeps them.
    pub(crate) fn here(&self) -> Option<&Arc<Streams>> {
        self.0.here.as_ref()
    }
}

impl Inner {
    /// The hub of a topic, which is there for as long as somebody has it.
    pub(super) fn hub(&self, topic: &Name) -> Arc<Hub> {
        let Some(remote) = &self.remote else { return self.hubs.find_or_make(topic, Hub::hearing, |_| ()) };
        self.hubs.find_or_make(topic, Hub::tuning, |hub| {
            let hearer = Arc::downgrade(hub);
            hub.keep(remote.redis.tune(self.keys.topic_channel(topic), move |signal| {
                if let Some(hub) = hearer.upgrade() {
                    hub.signal(signal);
                }
            }));
        })
    }

    /// Begins to hear that there is something new in a durable topic.
    pub(super) fn bell(&self, topic: &Name) -> Bell {
        let (wake, name) = (self.context.wake.clone(), self.keys.stream(topic));
        let listener = wake.listen(&name);
        let tune = |remote: &Remote| {
            // Also when it is heard again: there may be something new since.
            remote.redis.tune(self.keys.topic_channel(topic), move |_| wake.wake(&name))
        };
        Bell { listener, _tuned: self.remote.as_ref().map(tune) }
    }

    /// How long nobody minds to wait for the store.
    pub(super) fn patience(&self) -> Duration {
        self.remote.as_ref().map_or(BUDGET, |remote| remote.redis.span(Road::Usual))
    }

    /// Runs `work` for no longer than [`Inner::patience`]; whether that was enough.
    pub(super) async fn within_patience(&self, work: impl Future<Output = ()>) -> bool {
        let clock = self.remote.as_ref().map_or(&self.context.clock, |remote| remote.redis.clock());
        clock.timeout(self.patience(), work).await.is_some()
    }
}
