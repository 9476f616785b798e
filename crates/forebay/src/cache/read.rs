//! Reading without loading.

use std::sync::Arc;

use super::{
    entry::Read,
    flight::Answer,
    inner::{Id, Inner},
    options::Refresh,
};
use crate::observe::{Event, ReadOutcome};

impl<V: Send + Sync + 'static> Inner<V> {
    /// Answers what the levels have for `id`; a stale value only where the space hands such out.
    pub(crate) async fn read(self: &Arc<Self>, id: &str) -> Read<V> {
        let id = Id::new(id);
        if let Some(answer) = self.recall(&id.key).and_then(|local| self.present(local)) {
            self.counts.memory_hit();
            return answer.into();
        }
        let read = self.read_store(&id).await;
        let outcome = match &read {
            Read::Hit(entry) => entry.outcome(),
            Read::Absent => Some(ReadOutcome::Absent),
            Read::Miss => Some(ReadOutcome::Miss),
        };
        if let Some(outcome) = outcome {
            self.record(Event::Read { space: self.name.as_str(), outcome });
        }
        read
    }

    async fn read_store(&self, id: &Id) -> Read<V> {
        let fenced = self.flights.fence(&id.key, &self.shared.epoch);
        let Ok(Some(stored)) = self.backend.read(&id.key).await else { return Read::Miss };
        match self.open(&stored) {
            Ok(opened) => {
                self.memorize(&id.key, &fenced.fence, &opened);
                match opened.answer {
                    Answer::Present(entry) if entry.is_stale() && self.options.refresh == Refresh::Never => {
                        Read::Miss
                    }
                    answer => answer.into(),
                }
            }
            Err(reason) => {
                self.unreadable(reason);
                Read::Miss
            }
        }
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
