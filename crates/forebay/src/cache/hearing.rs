//! What other processes have changed, passed on to the caches of this one.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
};

use super::{fence::Epoch, inner::Inner, local::Memory, memory::Leases, outage::Outage};
use crate::{
    bus::{Heard, Kind},
    key::Name,
    sync::Mutex,
};

/// Something of one space that another process can overtake.
pub(crate) trait Overtaken: Send + Sync {
    /// Somebody has changed `id`.
    fn overtake(&self, id: &str, kind: Kind);
}

/// The ears of the caches of one `Forebay`.
pub(crate) struct Hearing {
    spaces: Mutex<HashMap<String, Vec<Weak<dyn Overtaken>>>>,
    epoch: Arc<Epoch>,
    /// What was leased and filled while the store could not be asked: it ends with its epoch.
    leases: Arc<Leases>,
    memory: Arc<Memory>,
}

impl Hearing {
    pub(crate) fn new(epoch: Arc<Epoch>, leases: Arc<Leases>, memory: Arc<Memory>) -> Self {
        Self { spaces: Mutex::default(), epoch, leases, memory }
    }

    /// Has `ear` hear of changes in `space` from now on, for as long as it exists.
    pub(crate) fn add(&self, space: &Name, ear: Weak<dyn Overtaken>) {
        let mut spaces = self.spaces.lock();
        let ears = spaces.entry(space.as_str().to_owned()).or_default();
        ears.retain(|ear| ear.strong_count() > 0);
        ears.push(ear);
    }

    pub(crate) fn hear(&self, heard: Heard<'_>) {
        match heard {
            // Its own changes have been done in this process, before and after the store.
            Heard::Changed { own: true, .. } | Heard::Changed { kind: Kind::Freed, .. } => {}
            Heard::Changed { space, id, kind, .. } => {
                for ear in self.ears(space) {
                    ear.overtake(id, kind);
                }
            }
            Heard::Missed => {
                self.epoch.missed();
                self.clear();
            }
            Heard::Deaf => self.epoch.set_hearing(false),
            Heard::Hearing => {
                self.epoch.set_hearing(true);
                self.clear();
            }
        }
    }

    /// Ends what was leased and filled beside the store: a change of it may not have been heard.
    fn clear(&self) {
        self.leases.clear();
        self.memory.clear_stored();
    }

    fn ears(&self, space: &str) -> Vec<Arc<dyn Overtaken>> {
        let spaces = self.spaces.lock();
        spaces.get(space).into_iter().flatten().filter_map(Weak::upgrade).collect()
    }
}

impl<V: Send + Sync + 'static> Overtaken for Inner<V> {
    fn overtake(&self, id: &str, kind: Kind) {
        Self::overtake(self, id, kind);
    }
}

impl Overtaken for Outage {
    fn overtake(&self, id: &str, _: Kind) {
        Self::overtake(self, id);
    }
}

impl fmt::Debug for Hearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hearing").finish_non_exhaustive()
    }
}
