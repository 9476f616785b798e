//! What the clones of one cache share, and how it uses process memory.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use super::{
    again::Again,
    backend::Backend,
    breaker::Breaker,
    bulkhead::Bulkhead,
    current::Beginnings,
    entry::{Entry, Source},
    epochs::Epochs,
    fence::Fence,
    flight::Flight,
    flights::Flights,
    frequency::Frequency,
    grant::Grant,
    local::{Local, Memory, Meta, More, TAGGED},
    numbers::{Judgement, Numbers},
    options::{Coherence, Options},
    pace::Pace,
    refresh::PAUSE,
    seal::Opened,
    slots::Space,
    stats::Counts,
    token::Token,
    verdict::Answer,
    waits::Waits,
};
use crate::{
    bus::Kind,
    clock::Moment,
    codec::Codec,
    context::Context,
    filter::Filter,
    key::{Name, encode},
    observe::{ChangeSource, Event, FillOutcome, ReadOutcome},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64},
    },
};

/// What all caches of a `Forebay` share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) context: Context,
    pub(crate) memory: Arc<Memory>,
    pub(crate) epochs: Arc<Epochs>,
    pub(crate) waits: Arc<Waits>,
    /// Bounds the loads that no lease bounds.
    pub(crate) outage: Bulkhead,
}

/// What the clones of one cache share.
pub(crate) struct Inner<V> {
    pub(crate) name: Name,
    pub(crate) space: Space,
    pub(crate) options: Options,
    pub(crate) codec: Arc<dyn Codec<V>>,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) beginnings: Beginnings,
    pub(crate) shared: Shared,
    /// Knows which ids there can be.
    pub(crate) guard: Option<Filter>,
    pub(crate) flights: Flights<V>,
    pub(crate) bulkhead: Option<Bulkhead>,
    pub(crate) breaker: Option<Breaker>,
    /// Told of while the cache is there, and afterwards.
    pub(crate) counts: Arc<Counts>,
    /// The mean size of the space's entries, smoothed: what a running load is expected to bring.
    pub(crate) mean_bytes: AtomicU64,
    pub(crate) pace: Pace,
    /// How often ids are read, where lives follow from that.
    pub(crate) frequency: Option<Frequency>,
    /// What is invalidated a second time, where anything is.
    pub(crate) again: Option<Again>,
    /// Whether an invalidation by pattern is under way.
    pub(crate) sweeping: AtomicBool,
    /// When the log last spoke of an entry that cannot be read.
    warned: Mutex<Option<Moment>>,
}

/// A change of a shape makes thousands of entries unreadable.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(60);

impl<V: Send + Sync + 'static> Inner<V> {
    pub(crate) fn new(
        (name, space): (Name, Space),
        options: Options,
        codec: Arc<dyn Codec<V>>,
        backend: Arc<dyn Backend>,
        numbers: Arc<Numbers>,
        shared: Shared,
    ) -> Self {
        Self {
            guard: None,
            bulkhead: options.load_concurrency.map(Bulkhead::new),
            breaker: options.origin_breaker.map(|rule| Breaker::new(rule, shared.context.clock.clone())),
            flights: Flights::new(),
            counts: Arc::default(),
            mean_bytes: AtomicU64::new(0),
            pace: Pace::default(),
            frequency: options.adaptive.map(|_| Frequency::new()),
            again: options.invalidate_again_after.map(Again::new),
            sweeping: AtomicBool::new(false),
            warned: Mutex::default(),
            name,
            space,
            options,
            codec,
            backend,
            numbers,
            beginnings: Beginnings::default(),
            shared,
        }
    }

    pub(crate) fn new_flight(&self, fresh: bool, ends_when_abandoned: bool) -> Flight<V> {
        let fence = Fence::raise(&self.numbers.epoch);
        Flight::new(self.shared.waits.number(), fence, fresh, ends_when_abandoned)
    }

    /// Lets a shutdown wait for the flights that callers fly by themselves, though it ends those of tasks only.
    pub(crate) fn fly_on_in_shutdown(self: &Arc<Self>) {
        let inner = Arc::downgrade(self);
        self.shared.context.tasks.at_shutdown(move |tasks| {
            if let Some(inner) = inner.upgrade() {
                inner.flights.take_over(tasks);
            }
        });
    }

    pub(crate) fn grant(&self, key: Arc<str>, token: Token, life: Duration) -> Grant {
        Grant::new(self.backend.clone(), self.shared.context.tasks.clone(), key, token, life)
    }

    /// What process memory has for `key` and may still use, if it has no tags.
    #[cfg(test)]
    pub(crate) fn recall(&self, key: &str) -> Option<Local> {
        self.shared.memory.get(self.space, key).filter(|local| self.is_usable(local))
    }

    #[inline]
    fn is_usable(&self, local: &Local) -> bool {
        local.until > self.shared.context.clock.coarse() && local.epoch == self.numbers.epoch.now()
    }

    /// The value of a hit in process memory; counts it.
    #[inline]
    pub(crate) fn hit(&self, id: &str) -> Option<Arc<V>> {
        let key = encode(id);
        let local = self.shared.memory.get(self.space, &key)?;
        if !self.is_usable(&local) {
            return None;
        }
        let value = local.value?.downcast::<V>().ok()?;
        self.counts.memory_hit();
        self.count_answer(&key);
        self.meet(&key);
        Some(value)
    }

    /// What process memory answers for `key`, with all that is told of it, and whether a refresh may be due.
    pub(crate) fn present(&self, key: &str) -> Option<(Answer<V>, bool)> {
        // Read as a hit first: only that counts when room is to be made.
        let heard = [TAGGED, self.numbers.epoch.now()];
        self.shared.memory.get(self.space, key).filter(|local| heard.contains(&local.epoch))?;
        let (local, meta) = self.shared.memory.tell(self.space, key)?;
        let now = self.shared.context.clock.coarse();
        if meta.used_until <= now || !self.is_known_current(&local, &meta) {
            return None;
        }
        let may_be_due = local.until <= now;
        Some((self.told(local, &meta, now)?, may_be_due))
    }

    /// Has hits of `entry` go on for a while as if it were not to be replaced: somebody is about to.
    pub(crate) fn postpone(&self, key: &str, entry: u64) {
        self.shared.memory.postpone(self.space, key, entry, self.now().after(PAUSE));
    }

    /// Whether a value is from this epoch, and its tags, if it has any, are known not to have passed it, or are not known
    /// to have where that is enough.
    pub(super) fn is_known_current(&self, local: &Local, meta: &Meta) -> bool {
        let epoch = self.numbers.epoch.now();
        let is_current = || match self.numbers.judge(&meta.stamp()) {
            Judgement::Current => true,
            Judgement::Passed => false,
            Judgement::Unknown => self.options.coherence == Coherence::TtlOnly,
        };
        match local.epoch {
            TAGGED => meta.epoch == epoch && is_current(),
            other => other == epoch,
        }
    }

    /// What process memory still has for `key` inside its own life, be it suspect or past its local one: for
    /// while the store cannot be asked.
    pub(crate) fn last_resort(&self, key: &str) -> Option<Answer<V>> {
        let (local, meta) = self.shared.memory.tell(self.space, key)?;
        let now = self.now();
        if meta.kept_until <= now || self.numbers.have_passed(&meta.stamp()) {
            return None;
        }
        self.told(local, &meta, now)
    }

    fn told(&self, local: Local, meta: &Meta, now: Moment) -> Option<Answer<V>> {
        let Some(value) = local.value else { return Some(Answer::Absent) };
        Some(Answer::Present(Entry {
            value: value.downcast::<V>().ok()?,
            age: now.since(meta.born),
            fresh_for: meta.fresh_until.since(now),
            source: Source::Memory,
            validator: meta.validator(),
            id: meta.id,
            stamp: meta.stamp(),
            load_time: meta.load_time(),
        }))
    }

    /// Puts `answer` into process memory, unless something has overtaken it on its way.
    pub(crate) fn memorize(&self, key: &str, fence: &Fence, opened: &Opened<V>) {
        let local_life = self.options.local_time_to_live.min(opened.fresh_for);
        if local_life.is_zero() {
            return;
        }
        let now = self.shared.context.clock.now();
        let (value, age, validator, load_time) = match &opened.answer {
            Answer::Present(entry) => {
                let value: Arc<dyn Any + Send + Sync> = entry.value.clone();
                (Some(value), entry.age, entry.validator.clone(), entry.load_time)
            }
            Answer::Absent => (None, Duration::ZERO, None, Duration::ZERO),
        };
        let (used_until, fresh_until) = (now.after(local_life), now.after(opened.fresh_for));
        let margin = match &opened.answer {
            Answer::Present(entry) => self.widest_margin(entry),
            Answer::Absent => Duration::ZERO,
        };
        fence.pass(&self.numbers.epoch, |epoch| {
            let meta = Meta {
                id: opened.id,
                born: now.before(age),
                fresh_until,
                used_until,
                kept_until: now.after(opened.kept_for),
                epoch,
                load_time: u32::try_from(load_time.as_micros()).unwrap_or(u32::MAX),
                number: opened.stamp.number,
                more: More::of(validator, &opened.stamp.tags),
            };
            let local = Local {
                value,
                until: used_until.min(fresh_until.before(margin)),
                epoch: if opened.stamp.tags.is_empty() { epoch } else { TAGGED },
                bytes: u32::try_from(opened.bytes).unwrap_or(u32::MAX),
                meta: Some(Box::new(meta)),
            };
            self.shared.memory.insert(self.space, key, local);
        });
    }

    /// Overtakes what is under way for `key`, and takes its value out of use in this process.
    pub(crate) fn overtake(&self, key: &str, kind: Kind) {
        // Fences first: what passes one afterwards would not be found by the removal.
        self.flights.detach(key, &self.shared.context.tasks);
        match kind {
            Kind::Gone => self.forget(key),
            Kind::Freed | Kind::Tag | Kind::Clear => {}
            Kind::Aged => self.shared.memory.age(self.space, key, self.now()),
        }
    }

    /// Somebody has written or removed what the store has for `key` of one version: maybe this process, with a fill that
    /// others wait for. It is read again in any case.
    pub(crate) fn written(&self, version: u32, key: &str) {
        if self.options.coherence == Coherence::Tracking && self.options.version == version {
            self.flights.cut(key);
            self.forget(key);
            self.changed(ChangeSource::Written);
        }
    }

    /// Drops `key` from process memory.
    pub(crate) fn forget(&self, key: &str) {
        self.shared.memory.remove(self.space, key);
    }

    pub(crate) fn unreadable(&self, reason: &'static str) {
        self.record(Event::Unreadable { space: self.name.as_str(), reason });
        let now = self.now();
        let mut warned = self.warned.lock();
        if warned.is_none_or(|warned| now.since(warned) >= BETWEEN_WARNINGS) {
            *warned = Some(now);
            tracing::warn!(space = %self.name, reason, "a stored entry cannot be read and is loaded anew");
        }
    }

    pub(crate) fn filled(&self, outcome: FillOutcome) {
        self.record(Event::Fill { space: self.name.as_str(), outcome });
    }

    pub(crate) fn changed(&self, source: ChangeSource) {
        self.record(Event::Changed { space: self.name.as_str(), source });
    }

    /// Tells how a read that began at `began` has ended.
    pub(crate) fn told_read(&self, outcome: ReadOutcome, began: Duration) {
        let took = self.shared.context.clock.reading().saturating_sub(began);
        self.record(Event::Read { space: self.name.as_str(), outcome, took });
    }

    pub(crate) fn record(&self, event: Event<'_>) {
        self.counts.record(&event);
        self.shared.context.observe.record(event);
    }

    pub(crate) fn now(&self) -> Moment {
        self.shared.context.clock.now()
    }
}

impl<V> fmt::Debug for Inner<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("space", &self.name).finish_non_exhaustive()
    }
}
