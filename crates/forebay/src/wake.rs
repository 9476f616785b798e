//! "Somebody waits for this name": wakes the waiters of this process. A wake is a hint, never a promise.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use dashmap::DashMap;
use tokio::sync::watch;

use crate::hash::Seed;

/// The names that tasks of this process wait for; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wake(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    bells: DashMap<Box<str>, watch::Sender<()>, Seed>,
    /// Whether the wakes of other processes are not heard.
    deaf: AtomicBool,
}

impl Wake {
    /// Hears every wake of `name` from now on.
    pub(crate) fn listen(&self, name: &str) -> Listener {
        let heard = self.0.bells.entry(name.into()).or_insert_with(|| watch::Sender::new(())).subscribe();
        Listener { wake: self.0.clone(), name: name.into(), heard: Some(heard) }
    }

    /// Wakes whoever listens to `name`.
    pub(crate) fn wake(&self, name: &str) {
        if let Some(bell) = self.0.bells.get(name) {
            bell.send_replace(());
        }
    }

    /// Wakes everybody: what they wait for may never be told.
    pub(crate) fn wake_all(&self) {
        for bell in &self.0.bells {
            bell.send_replace(());
        }
    }

    /// Whether wakes of other processes are heard.
    pub(crate) fn hears(&self) -> bool {
        !self.0.deaf.load(SeqCst)
    }

    pub(crate) fn set_hearing(&self, hearing: bool) {
        self.0.deaf.store(!hearing, SeqCst);
    }
}

/// Hears the wakes of one name until it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    wake: Arc<Inner>,
    name: Box<str>,
    heard: Option<watch::Receiver<()>>,
}

impl Listener {
    /// Completes at the first wake since the last call, or since [`Wake::listen`].
    pub(crate) async fn woken(&mut self) {
        if let Some(heard) = &mut self.heard {
            heard.changed().await.expect("the bell stays in the map as long as somebody listens");
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.heard = None;
        self.wake.bells.remove_if(&self.name, |_, bell| bell.receiver_count() == 0);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_wake_between_listening_and_waiting_is_not_lost() {
        let wake = Wake::default();
        let mut listener = wake.listen("a");
        wake.wake("a");
        assert!(listener.woken().now_or_never().is_some());
        assert!(listener.woken().now_or_never().is_none());
    }

    #[test]
    fn a_name_nobody_listens_to_takes_no_room() {
        let wake = Wake::default();
        let (first, second) = (wake.listen("a"), wake.listen("a"));
        drop(first);
        assert_eq!(wake.0.bells.len(), 1);
        drop(second);
        assert!(wake.0.bells.is_empty());
    }
}
