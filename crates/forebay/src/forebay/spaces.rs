//! The spaces that were built, and what was counted in them.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use super::figures::SpaceFigures;
use crate::{
    cache::Counts,
    error::{Error, ErrorKind},
    key::Name,
    sync::Mutex,
};

/// The spaces of one `Forebay`. Each has its name for good, and what was counted outlives its cache.
#[derive(Default)]
pub(super) struct Spaces(Mutex<BTreeMap<String, Arc<Counts>>>);

impl Spaces {
    /// Takes `name`, and answers where is counted what happens in it.
    pub(super) fn claim(&self, name: &Name) -> Result<Arc<Counts>, Error> {
        match self.0.lock().entry(name.as_str().to_owned()) {
            Entry::Vacant(place) => Ok(place.insert(Arc::default()).clone()),
            Entry::Occupied(_) => {
                let why = format!("cache {name} was built before in this Forebay; clone that one");
                Err(Error::new(ErrorKind::Config, why))
            }
        }
    }

    /// In the order of their names.
    pub(super) fn figures(&self) -> Vec<SpaceFigures> {
        let figures = |(space, counts): (&String, &Arc<Counts>)| SpaceFigures {
            space: space.clone(),
            stats: counts.snapshot(),
        };
        self.0.lock().iter().map(figures).collect()
    }
}
