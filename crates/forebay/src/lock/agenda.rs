//! When which keeper has something to do: a lock that is let go of before costs no task, and wakes none.

use std::{collections::BTreeMap, sync::Arc};

use super::keeper::Keeper;
use crate::{
    clock::{Clock, Moment},
    sync::Mutex,
    tasks::Tasks,
};

/// The keepers that were not started yet.
#[derive(Debug)]
pub(super) struct Agenda {
    clock: Clock,
    tasks: Tasks,
    state: Mutex<State>,
    /// Rung when somebody is due before the one task looks again.
    sooner: tokio::sync::Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<Place, Keeper>,
    places: u64,
    /// When the one task looks again, while there is one.
    alarm: Option<Moment>,
}

/// Where a keeper stands, by when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Moment, u64);

impl Agenda {
    pub(super) fn new(clock: Clock, tasks: Tasks) -> Arc<Self> {
        Arc::new(Self { clock, tasks, state: Mutex::default(), sooner: tokio::sync::Notify::new() })
    }

    /// Starts `keeper` when it is due, or when a shutdown begins, unless it is [taken](Agenda::take) before.
    pub(super) fn add(self: &Arc<Self>, keeper: Keeper) -> Place {
        let mut state = self.state.lock();
        let place = Place(keeper.due, state.places);
        state.places += 1;
        state.waiting.insert(place, keeper);
        match state.alarm {
            Some(alarm) if alarm <= place.0 => {}
            Some(_) => self.sooner.notify_one(),
            None => {
                state.alarm = Some(place.0);
                let mut starter = Starter { agenda: self.clone(), has_ended: false };
                self.tasks.spawn(async move { starter.run().await });
            }
        }
        place
    }

    /// The keeper at `place`, if it was not started.
    pub(super) fn take(&self, place: Place) -> Option<Keeper> {
        self.state.lock().waiting.remove(&place)
    }

    /// Starts who is due. When the next one is; nothing where there is none, and the task ends.
    fn start(&self, is_due: impl Fn(Moment) -> bool) -> Option<Moment> {
        let mut state = self.state.lock();
        while let Some(first) = state.waiting.first_entry()
            && is_due(first.key().0)
        {
            self.tasks.spawn(first.remove().run());
        }
        state.alarm = state.waiting.first_key_value().map(|(place, _)| place.0);
        state.alarm
    }
}

/// The one task, while anybody is on the agenda.
struct Starter {
    agenda: Arc<Agenda>,
    has_ended: bool,
}

impl Starter {
    async fn run(&mut self) {
        let Agenda { clock, tasks, sooner, .. } = &*self.agenda;
        while let Some(next) = self.agenda.start(|due| due <= clock.now() || tasks.is_stopping()) {
            tokio::select! {
                biased;
                () = tasks.stopping() => {}
                () = sooner.notified() => {}
                () = clock.sleep(next.since(clock.now())) => {}
            }
        }
        self.has_ended = true;
    }
}

impl Drop for Starter {
    /// What ends it before its time is the end of the runtime: nobody would start those who are left.
    fn drop(&mut self) {
        if !self.has_ended {
            let mut state = self.agenda.state.lock();
            state.alarm = None;
            let left = std::mem::take(&mut state.waiting);
            drop(state);
            drop(left);
        }
    }
}
