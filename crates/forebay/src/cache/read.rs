//! Reading without loading.

use std::sync::Arc;

use super::{
    backend::{Budget, Unavailable},
    entry::{Entry, Read},
    id::Id,
    inner::Inner,
    refresh::Refresh,
    seal::Opened,
    verdict::Answer,
};
use crate::observe::ReadOutcome;

impl<V: Send + Sync + 'static> Inner<V> {
    /// Returns what the levels have for `id`; a stale value only if the space hands those out.
    pub(crate) async fn read(self: &Arc<Self>, id: &str) -> Read<V> {
        let id = Id::new(id);
        self.meet(&id.key);
        if let Some((answer, _)) = self.present(&id.key) {
            self.counts.memory_hit();
            self.count_answer(&id.key);
            return answer.into();
        }
        let began = self.shared.context.clock.reading();
        let mut budget = self.backend.budget();
        if self.rules_out(&id.given, &mut budget).await.is_some() {
            self.told_read(ReadOutcome::Filtered, began);
            return Read::Absent;
        }
        let found = self.look_within(&id, self.options.refresh, true, &mut budget).await;
        let read = found.map_or(Read::Miss, Read::from);
        let outcome = match &read {
            Read::Hit(entry) => {
                self.count_answer(&id.key);
                entry.outcome()
            }
            Read::Absent => Some(ReadOutcome::Absent),
            Read::Miss => Some(ReadOutcome::Miss),
        };
        match outcome {
            Some(outcome) => self.told_read(outcome, began),
            None => self.counts.memory_hit(),
        }
        read
    }

    /// The value that the levels have for `id`, if it needs no load, neither now nor behind it.
    pub(crate) async fn settled(self: &Arc<Self>, id: &str) -> Option<Arc<V>> {
        if let Some(value) = self.hit(id) {
            return Some(value);
        }
        let (id, began) = (Id::new(id), self.shared.context.clock.reading());
        let mut budget = self.backend.budget();
        if self.rules_out(&id.given, &mut budget).await.is_some() {
            return None;
        }
        let found = self.look_within(&id, Refresh::Never, false, &mut budget).await;
        let Some(Answer::Present(entry)) = found else { return None };
        let refresh = self.options.refresh;
        if self.due(&entry, refresh.luck(&self.shared.context.dice)).is_some() {
            return None;
        }
        self.count_answer(&id.key);
        self.meet(&id.key);
        match entry.outcome() {
            Some(outcome) => self.told_read(outcome, began),
            None => self.counts.memory_hit(),
        }
        Some(entry.value)
    }

    /// What the store has for `id`: a stale value only if `refresh` hands those out, an absence only if
    /// `absence` takes it for an answer.
    pub(crate) async fn look(&self, id: &Id, refresh: Refresh, absence: bool) -> Option<Answer<V>> {
        self.look_within(id, refresh, absence, &mut self.backend.budget()).await
    }

    async fn look_within(
        &self,
        id: &Id,
        refresh: Refresh,
        absence: bool,
        budget: &mut Budget,
    ) -> Option<Answer<V>> {
        let fenced = self.flights.fence(&id.key, &self.numbers.epoch);
        let Ok(opened) = self.read_current(id, budget).await else {
            return self.last_resort(&id.key).filter(|answer| is_usable(answer, refresh, absence));
        };
        let opened = opened?;
        self.memorize(&id.key, &fenced.fence, &opened);
        is_usable(&opened.answer, refresh, absence).then_some(opened.answer)
    }

    /// What is kept for `id`, be it fresh or stale; while the store cannot be asked, in process memory.
    pub(crate) async fn kept(&self, id: &Id) -> Option<Entry<V>> {
        let answer = match self.read_current(id, &mut self.backend.budget()).await {
            Ok(opened) => opened?.answer,
            Err(Unavailable) => self.last_resort(&id.key)?,
        };
        match answer {
            Answer::Present(entry) => Some(entry),
            Answer::Absent => None,
        }
    }

    /// What the store has for `id`, if it can be read and is current.
    async fn read_current(&self, id: &Id, budget: &mut Budget) -> Result<Option<Opened<V>>, Unavailable> {
        let Some(stored) = self.backend.read(&id.key, budget).await? else { return Ok(None) };
        let opened = self.open(&stored).inspect_err(|reason| self.unreadable(reason));
        let Ok(opened) = opened else { return Ok(None) };
        Ok(self.is_current(&opened.stamp, budget).await?.then_some(opened))
    }
}

fn is_usable<V>(answer: &Answer<V>, refresh: Refresh, absence: bool) -> bool {
    match answer {
        Answer::Present(entry) => !entry.is_stale() || refresh.serves_stale(),
        Answer::Absent => absence,
    }
}

impl<V> From<Answer<V>> for Read<V> {
    fn from(answer: Answer<V>) -> Self {
        match answer {
            Answer::Present(entry) => Self::Hit(entry),
            Answer::Absent => Self::Absent,
        }
    }
}
