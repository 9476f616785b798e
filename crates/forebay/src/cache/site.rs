//! Where a cache is built: its place among the spaces of a `Forebay`, and its store.

use std::sync::{Arc, Weak};

use super::{
    backend::Backend, hearing::Overtaken, inner::Shared, numbers::Numbers, options::Options, slots::Space,
    stats::Counts,
};
use crate::{error::Error, key::Name};

/// Gives a space its place among the spaces of a `Forebay`, and its store.
pub(crate) trait Site: Send + Sync {
    /// What all caches share.
    fn shared(&self) -> Shared;

    /// Takes `name`, and answers where its cache counts; refused when a cache of that name was built before.
    fn claim(&self, name: &Name) -> Result<Arc<Counts>, Error>;

    /// The largest payload that the store can hold.
    fn most_bytes(&self) -> usize;

    /// The store of one space, of whose numbers `numbers` are known.
    fn backend(
        &self,
        name: &Name,
        space: Space,
        options: &Options,
        numbers: &Arc<Numbers>,
    ) -> Arc<dyn Backend>;

    /// Has the store tell of what is written to it from now on.
    fn track(&self);

    /// Has `cache` hear of what other processes change in its space.
    fn attend(&self, name: &Name, cache: Weak<dyn Overtaken>);
}
