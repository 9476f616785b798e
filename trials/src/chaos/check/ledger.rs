//! A history, so ordered that what belongs together is found.

use std::{collections::HashMap, iter, time::Duration};

use crate::{
    chaos::{
        fault::{Fault, Takes},
        history::{History, Process, Span, Step, Window},
    },
    moment::Moment,
    order::{Load, Outcome},
};

/// How late the first tick of a process may be that was stopped.
const FIRST_TICK: Duration = Duration::from_millis(100);

/// The history, by id and by seat.
pub(super) struct Ledger<'a> {
    pub(super) history: &'a History,
    pub(super) by_id: HashMap<&'a str, Item<'a>>,
    windows: HashMap<usize, Vec<&'a Window>>,
    settled: HashMap<usize, Vec<Moment>>,
}

/// All that concerns one id.
#[derive(Default)]
pub(super) struct Item<'a> {
    /// In the order of their begin.
    pub(super) steps: Vec<&'a Step>,
    /// In the order of their begin, each with its process.
    pub(super) loads: Vec<(usize, &'a Load)>,
}

impl<'a> Ledger<'a> {
    pub(super) fn of(history: &'a History) -> Self {
        let mut by_id: HashMap<&str, Item<'_>> = HashMap::new();
        for step in &history.steps {
            by_id.entry(&step.id).or_default().steps.push(step);
        }
        for (process, load) in &history.loads {
            by_id.entry(&load.id).or_default().loads.push((*process, load));
        }
        for item in by_id.values_mut() {
            item.steps.sort_by_key(|step| step.span().began);
            item.loads.sort_by_key(|(_, load)| load.began);
        }
        let (mut windows, mut settled): (HashMap<_, Vec<_>>, HashMap<_, Vec<_>>) = Default::default();
        for window in &history.windows {
            windows.entry(window.seat).or_default().push(window);
        }
        for (process, moment) in &history.settled {
            settled.entry(*process).or_default().push(*moment);
        }
        settled.values_mut().for_each(|moments| moments.sort_unstable());
        Self { history, by_id, windows, settled }
    }

    /// The ids that a step asks for.
    pub(super) fn items(&self, step: &'a Step) -> impl Iterator<Item = &Item<'a>> {
        let ids = iter::once(&step.id).chain(step.others.iter().filter(|other| **other != step.id));
        ids.filter_map(|id| self.by_id.get(&**id))
    }

    pub(super) fn process(&self, number: usize) -> &Process {
        &self.history.processes[number]
    }

    /// The faults that take something from a process between two moments.
    pub(super) fn windows(
        &self,
        process: usize,
        from: Moment,
        to: Moment,
        takes: fn(Takes) -> bool,
    ) -> impl Iterator<Item = &'a Window> {
        let felt = self.windows.get(&self.process(process).seat).into_iter().flatten().copied();
        felt.filter(move |window| takes(window.fault.facts().takes) && window.span.meets(from, to))
    }

    /// Whether a process could not ask Redis for this id between two moments.
    pub(super) fn is_hidden(&self, process: usize, id: &str, from: Moment, to: Moment) -> bool {
        let concerns =
            |window: &Window| window.ids.as_ref().is_none_or(|ids| ids.iter().any(|other| other == id));
        self.windows(process, from, to, |takes| takes.hides).any(concerns)
    }

    /// Whether a process was stopped, or has just gone on, between two moments.
    pub(super) fn is_stopped(&self, process: usize, from: Moment, to: Moment) -> bool {
        self.windows(process, from.before(FIRST_TICK), to, |takes| takes.stops)
            .any(|window| window.mended.after(FIRST_TICK) >= from)
    }

    /// How long a process was stopped between two moments.
    pub(super) fn stopped_for(&self, process: usize, from: Moment, to: Moment) -> Duration {
        let stops = self.windows(process, from, to, |takes| takes.stops);
        let span = |window: &Window| Span { began: window.span.began, ended: window.mended }.within(from, to);
        stops.filter(|window| window.fault == Fault::Stop).map(span).sum()
    }

    /// How long the machine let threads wait between two moments.
    pub(super) fn starved_for(&self, from: Moment, to: Moment) -> Duration {
        self.history.starved.iter().map(|span| span.within(from, to)).sum()
    }

    /// From when on others have to know of a change: once it is confirmed, at the latest as it is done again. Never if
    /// its process died before.
    pub(super) fn visible(&self, change: &Step) -> Option<Moment> {
        let call = change.call()?;
        match call.outcome {
            Outcome::Everywhere => Some(call.ended),
            Outcome::Deferred => {
                let moments = self.settled.get(&change.process)?;
                moments.get(moments.partition_point(|moment| *moment <= call.ended)).copied()
            }
            _ => None,
        }
    }
}
