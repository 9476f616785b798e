//! The names that events have, as far as they are shown.

use std::sync::Arc;

use dashmap::DashMap;

use crate::hash::Seed;

/// What stands for names that are not shown.
const OTHER: &str = "other";

/// The most names of one kind; further ones are shown together.
pub(super) const MOST: usize = 1_024;

/// Handles by the names that events have.
pub(super) struct Names<T> {
    known: DashMap<Box<str>, Arc<T>, Seed>,
    /// Whether only those are shown that there are.
    closed: bool,
    most: usize,
}

impl<T> Names<T> {
    /// As many as come, up to `most`.
    pub(super) fn up_to(most: usize) -> Self {
        Self { known: DashMap::default(), closed: false, most }
    }

    /// Begins with those that are `shown`, where it is known which are.
    pub(super) fn of_those(shown: Option<&[String]>, new: impl Fn(&str) -> T) -> Self {
        let names = Self { closed: shown.is_some(), ..Self::up_to(MOST) };
        for name in shown.into_iter().flatten() {
            names.known.insert(name.as_str().into(), Arc::new(new(name)));
        }
        names
    }

    /// The handles of `name`, or of all that are not shown; `new` makes them.
    pub(super) fn of(&self, name: &str, new: impl Fn(&str) -> T) -> Arc<T> {
        if let Some(handles) = self.known.get(name) {
            return handles.clone();
        }
        let shown = !self.closed && self.known.len() < self.most;
        // All that are not shown come here at each event: no lock is taken for writing, nothing allocated.
        if !shown && let Some(handles) = self.known.get(OTHER) {
            return handles.clone();
        }
        let name = if shown { name } else { OTHER };
        self.known.entry(name.into()).or_insert_with(|| Arc::new(new(name))).clone()
    }
}
