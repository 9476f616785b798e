//! The check of a history against what is promised: one load at a time, nothing served to a later caller that was
//! changed before, and nothing older than the bound in another process.

use std::{collections::HashMap, time::Duration};

use super::{Act, History, Outage, Step, Violation};
use crate::{
    moment::Moment,
    order::{Load, Outcome},
};

/// How much later than its caller knows a change that was not confirmed may still be done, once Redis is back.
const REPLAYED: Duration = Duration::from_secs(3);

impl History {
    /// What no promise allows, in no order.
    pub fn violations(&self) -> Vec<Violation> {
        let by_id = self.by_id();
        let read = self.steps.iter().filter_map(|read| self.missed_change(read, &by_id[&*read.id]));
        let old = read.map(|(read, change)| Violation::TooOld { read: read.clone(), change: change.clone() });
        old.chain(self.pairs(&by_id)).collect()
    }

    fn by_id(&self) -> HashMap<&str, Vec<&Step>> {
        let mut by_id: HashMap<&str, Vec<&Step>> = HashMap::new();
        for step in &self.steps {
            by_id.entry(&step.id).or_default().push(step);
        }
        by_id
    }

    /// The change that `read` had to see and did not.
    fn missed_change<'a>(&self, read: &'a Step, same_id: &[&'a Step]) -> Option<(&'a Step, &'a Step)> {
        let Outcome::Value { version: shown, .. } = read.call.outcome else { return None };
        let missed = same_id.iter().find(|change| match change.act {
            Act::Change(version) => shown < version && self.must_see(read, change),
            _ => false,
        });
        missed.map(|change| (read, *change))
    }

    /// Whether `read` came late enough to see `change`: at once in its process, within the bound in another.
    fn must_see(&self, read: &Step, change: &Step) -> bool {
        if read.process == change.process {
            return change.call.ended <= read.call.began;
        }
        let bound = self.processes[read.process].bound;
        change.call.outcome == Outcome::Everywhere
            && change.call.ended.after(bound) <= read.call.began
            && !self.is_out(read.process, read.call.began, read.call.ended)
    }

    fn pairs(&self, by_id: &HashMap<&str, Vec<&Step>>) -> Vec<Violation> {
        let mut loads: Vec<&(usize, Load)> = self.loads.iter().collect();
        loads.sort_unstable_by(|one, other| (&one.1.id, one.1.began).cmp(&(&other.1.id, other.1.began)));
        let pairs = loads.iter().enumerate().flat_map(|(at, first)| {
            let rest = loads[at + 1..].iter().map(|second| (*first, *second));
            rest.take_while(|(first, second)| {
                second.1.id == first.1.id && first.1.ended.is_none_or(|end| second.1.began < end)
            })
        });
        let none = Vec::new();
        let bad = pairs.filter(|(first, second)| {
            !self.is_excused(first, second, by_id.get(&*first.1.id).unwrap_or(&none))
        });
        bad.map(|(first, second)| Violation::TwoLoads { first: first.clone(), second: second.clone() })
            .collect()
    }

    /// Whether the first load had been overtaken, or one of the two had no lease for want of Redis.
    fn is_excused(&self, first: &(usize, Load), second: &(usize, Load), same_id: &[&Step]) -> bool {
        // The lease was granted before the load began, and its answer has travelled since.
        let leased = first.1.began.before(self.processes[first.0].budget);
        let overtaken = same_id.iter().any(|step| {
            let last = match (step.act, &step.call.outcome) {
                (Act::Load | Act::Read, _) => return false,
                (_, Outcome::Deferred) => self.done_by(step),
                _ => step.call.ended,
            };
            step.call.began <= second.1.began && last >= leased
        });
        let out = |process| self.is_out(process, leased.before(REPLAYED), second.1.began);
        overtaken || out(first.0) || out(second.0)
    }

    /// When a change that was not confirmed was done at the latest.
    fn done_by(&self, change: &Step) -> Moment {
        let outages = self.outages_of(change.process, change.call.began, change.call.ended);
        let back = outages.map(|outage| outage.ended).max().unwrap_or(change.call.ended);
        back.max(change.call.ended).after(REPLAYED)
    }

    fn is_out(&self, process: usize, from: Moment, to: Moment) -> bool {
        self.outages_of(process, from, to).next().is_some()
    }

    fn outages_of(&self, process: usize, from: Moment, to: Moment) -> impl Iterator<Item = &Outage> {
        let out =
            move |outage: &&Outage| outage.process == process && outage.began <= to && outage.ended >= from;
        self.outages.iter().filter(out)
    }
}
