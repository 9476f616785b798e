//! What the promises of a lock do not allow, whatever befalls its holders.

use std::time::Duration;

use super::{BUDGET, Caller, Fire, Stop};
use crate::{hold::Stint, moment::Moment};

/// How soon whoever was stopped is told, once it goes on.
const PROMPT: Duration = Duration::from_millis(100);

/// How much later than its deadline a waiter may be told, on a busy machine.
const SLACK: Duration = Duration::from_millis(350);

impl Fire {
    /// What must not be, however busy the machine is.
    pub fn wrong(&self) -> Vec<String> {
        let stints = self.by_fence();
        let stale = stints.iter().filter(|(_, stint)| stint.refused > 0 || stint.revived);
        let stale = stale.map(|(caller, _)| format!("what was lost was said to be held: {caller:?}"));
        let twice = stints.windows(2).filter(|pair| pair[0].1.fence == pair[1].1.fence);
        let twice = twice.map(|pair| format!("one fence: {:?} and {:?}", pair[0].0, pair[1].0));
        let overtaken = self.landed.windows(2).filter(|pair| pair[0] > pair[1]);
        let overtaken = overtaken.map(|pair| format!("a write under {} landed after {}", pair[1], pair[0]));
        let left = self.left.iter().map(|key| format!("{key} is left"));
        stale.chain(twice).chain(overtaken).chain(disorder(&stints)).chain(left).collect()
    }

    /// What came later than it must, which the machine may have to answer for.
    pub fn late(&self) -> Vec<String> {
        let late = self.callers.iter().filter(|caller| self.waited_too_long(caller));
        let late = late.map(|caller| format!("told after its deadline: {caller:?}"));
        self.overlaps().into_iter().chain(late).collect()
    }

    /// Holders by the order in which the lock was given to them.
    fn by_fence(&self) -> Vec<(&Caller, &Stint)> {
        let mut stints: Vec<_> =
            self.callers.iter().filter_map(|caller| Some((caller, caller.stint()?))).collect();
        stints.sort_unstable_by_key(|(_, stint)| stint.fence);
        stints
    }

    /// Each holder who began although one before had not ended, nor was told that it is to end.
    fn overlaps(&self) -> Vec<String> {
        let (mut overlaps, mut last) = (Vec::new(), None::<(&Caller, Moment)>);
        for (caller, stint) in self.by_fence() {
            if let Some((other, ended)) = last.filter(|(_, ended)| *ended > stint.began) {
                let span = ended.since(stint.began);
                overlaps.push(format!("two holders for {span:?}: {other:?} and {caller:?}"));
            }
            if last.is_none_or(|(_, ended)| ended < stint.ended) && !self.is_excused(caller, stint) {
                last = Some((caller, stint.ended));
            }
        }
        overlaps
    }

    /// Whether a holder was told no later than it could be, since its process was stopped.
    fn is_excused(&self, caller: &Caller, stint: &Stint) -> bool {
        let stops = self.stops_of(caller.process, caller.held.asked, stint.ended);
        stops.into_iter().any(|stop| stint.ended <= stop.ended.after(PROMPT))
    }

    fn waited_too_long(&self, caller: &Caller) -> bool {
        let held = &caller.held;
        let most = Duration::from_millis(caller.order.wait_ms) + BUDGET + SLACK;
        held.told.since(held.asked) > most && self.stops_of(caller.process, held.asked, held.told).is_empty()
    }

    fn stops_of(&self, process: usize, from: Moment, to: Moment) -> Vec<&Stop> {
        let within = |stop: &&Stop| stop.process == process && stop.began <= to && stop.ended >= from;
        self.stops.iter().filter(within).collect()
    }
}

/// Each holder who asked when one with a later fence had begun: fences do not grow.
fn disorder(stints: &[(&Caller, &Stint)]) -> Vec<String> {
    let (mut found, mut first) = (Vec::new(), None::<(&Caller, Moment)>);
    for (caller, stint) in stints.iter().rev() {
        if let Some((other, began)) = first.filter(|(_, began)| *began < caller.held.asked) {
            found.push(format!("the fence of {caller:?} is below that of {other:?}, from {began:?}"));
        }
        if first.is_none_or(|(_, began)| stint.began < began) {
            first = Some((caller, stint.began));
        }
    }
    found
}
