//! What other processes have changed, passed on to the caches of this one.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
};

use super::{epochs::Epochs, inner::Inner, local::Memory, memory::Leases, numbers::Group, outage::Outage};
use crate::{
    bus::{Heard, Kind},
    key::{Keys, Name},
    observe::ChangeSource,
    redis::Written,
    sync::Mutex,
};

/// Something of one space that another process can overtake.
pub(crate) trait Overtaken: Send + Sync {
    /// Somebody has changed `id`.
    fn overtake(&self, id: &str, kind: Kind);

    /// The number of `group` was raised to `to`, by this process where `own`.
    fn raised(&self, group: &Group, to: u64, own: bool);

    /// What the store has for `id` of one version was written or removed, by whomever.
    fn written(&self, version: u32, id: &str);
}

/// The ears of the caches of one `Forebay`.
pub(crate) struct Hearing {
    spaces: Mutex<HashMap<String, Vec<Weak<dyn Overtaken>>>>,
    epochs: Arc<Epochs>,
    /// What was leased and filled while the store could not be asked: it ends with its epoch.
    leases: Arc<Leases>,
    memory: Arc<Memory>,
    keys: Keys,
}

impl Hearing {
    pub(crate) fn new(epochs: Arc<Epochs>, leases: Arc<Leases>, memory: Arc<Memory>, keys: Keys) -> Self {
        Self { spaces: Mutex::default(), epochs, leases, memory, keys }
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
            // Numbers only grow: whose message it is does not matter, nor in what order they come.
            Heard::Raised { space, tag, to, own } => {
                let group = tag.map_or(Group::Space, |tag| Group::Tag(tag.into()));
                for ear in self.ears(space) {
                    ear.raised(&group, to, own);
                }
            }
            Heard::Missed => {
                self.epochs.missed();
                self.clear();
            }
            Heard::Deaf => self.epochs.set_hearing(false),
            Heard::Hearing => {
                self.epochs.set_hearing(true);
                self.clear();
            }
        }
    }

    /// Takes note of what Redis tells of writes.
    pub(crate) fn hear_write(&self, written: Written<'_>) {
        match written {
            Written::Key(key) => {
                let read = str::from_utf8(key).ok().and_then(|key| self.keys.read_value(key));
                let Some((space, version, id)) = read else { return };
                for ear in self.ears(space) {
                    ear.written(version, id);
                }
            }
            Written::All => self.hear(Heard::Missed),
            Written::Told(told) => self.epochs.set_told(told),
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
        self.changed(ChangeSource::Heard);
    }

    fn raised(&self, group: &Group, to: u64, own: bool) {
        self.numbers.raised(group, to);
        if !own {
            self.changed(ChangeSource::Heard);
        }
    }

    fn written(&self, version: u32, id: &str) {
        Self::written(self, version, id);
    }
}

impl Overtaken for Outage {
    fn overtake(&self, id: &str, _: Kind) {
        Self::overtake(self, id);
    }

    /// What is leased and filled here has numbers, as everywhere.
    fn raised(&self, _: &Group, _: u64, _: bool) {}

    /// Nothing that is in the store is here.
    fn written(&self, _: u32, _: &str) {}
}

impl fmt::Debug for Hearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hearing").finish_non_exhaustive()
    }
}
