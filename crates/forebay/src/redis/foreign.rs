//! Says in the log which keys keep others out for ever, each once.

use std::collections::BTreeSet;

use crate::sync::Mutex;

/// How many are told of by one `Forebay`: whoever may name keys may name any number.
const MOST: usize = 100;

/// The keys that were told of.
#[derive(Debug, Default)]
pub(super) struct Foreign(Mutex<BTreeSet<String>>);

impl Foreign {
    /// Tells of what stands under `key`, which no script of ours leaves without an end.
    pub(super) fn warn(&self, key: &str) {
        if self.is_new(key) {
            tracing::warn!(
                key,
                "a key of the store has no end and keeps everybody out; look whose it is, then DEL it"
            );
        }
    }

    fn is_new(&self, key: &str) -> bool {
        let mut told = self.0.lock();
        told.len() < MOST && told.insert(key.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_told_of_once_and_not_too_many_are() {
        let foreign = Foreign::default();
        assert_eq!(["a", "a", "b"].map(|key| foreign.is_new(key)), [true, false, true]);
        let new = (0..1000).filter(|key| foreign.is_new(&key.to_string())).count();
        assert_eq!(new, MOST - 2);
    }
}
