//! What goes wrong when, out of one seed: endless, and every kind once before any comes again.

use std::{ops::Range, time::Duration};

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};

use super::{
    PROCESSES,
    fault::{Fault, Reach, Site, Weather},
};

/// Between two faults of one process, and of the servers.
const SEAT_PAUSE_MS: Range<u64> = 200..2_500;
const SERVERS_PAUSE_MS: Range<u64> = 200..900;

/// How long a fault lasts, where it does.
const LENGTH_MS: Range<u64> = 50..1_500;

/// A fault to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strike {
    /// How long nothing happens before.
    pub(super) pause: Duration,
    pub(super) fault: Fault,
    pub(super) length: Duration,
    /// What else is left to chance.
    pub(super) roll: u64,
}

/// The faults of one process, or of the servers, one after the other.
#[derive(Debug)]
pub(super) struct Plan {
    dice: StdRng,
    kinds: Vec<Fault>,
    hand: Vec<Fault>,
    pause_ms: Range<u64>,
}

impl Plan {
    /// The faults of the process in this seat. Among them, the processes have every kind in their first round.
    pub(super) fn of_seat(seed: u64, site: Site, seat: usize, weather: Weather) -> Self {
        let kinds = Fault::all(Reach::Process, site, weather);
        let mut shared = kinds.clone();
        shared.shuffle(&mut StdRng::seed_from_u64(seed));
        let hand = shared.into_iter().skip(seat).step_by(PROCESSES).collect();
        let calm = u64::from(weather == Weather::Calm);
        let own = seed.wrapping_add(1 + seat as u64 + PROCESSES as u64 * calm);
        Self { dice: StdRng::seed_from_u64(own), kinds, hand, pause_ms: SEAT_PAUSE_MS }
    }

    /// The faults of the servers.
    pub(super) fn of_servers(seed: u64, site: Site) -> Self {
        let kinds = Fault::all(Reach::Servers, site, Weather::Storm);
        let mut dice = StdRng::seed_from_u64(seed.wrapping_sub(1));
        let mut hand = kinds.clone();
        hand.shuffle(&mut dice);
        Self { dice, kinds, hand, pause_ms: SERVERS_PAUSE_MS }
    }

    /// How many faults come before one comes again.
    pub(super) fn first_round(&self) -> usize {
        self.hand.len()
    }

    pub(super) fn next(&mut self) -> Strike {
        if self.hand.is_empty() {
            self.hand.clone_from(&self.kinds);
            self.hand.shuffle(&mut self.dice);
        }
        let mut span = |range| Duration::from_millis(self.dice.random_range(range));
        let (pause, length) = (span(self.pause_ms.clone()), span(LENGTH_MS));
        let fault = self.hand.pop().expect("there are kinds everywhere");
        Strike { pause, fault, length, roll: self.dice.random() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_is_a_plan() {
        let strikes = |seed| {
            let mut plan = Plan::of_servers(seed, Site::One);
            (0..50).map(|_| plan.next()).collect::<Vec<_>>()
        };
        assert_eq!(strikes(7), strikes(7));
        assert_ne!(strikes(7), strikes(8));
    }

    #[test]
    fn every_kind_happens_in_the_first_round() {
        for site in [Site::One, Site::Cluster, Site::Sentinels] {
            let of = |weather| (0..PROCESSES).map(move |seat| Plan::of_seat(7, site, seat, weather));
            let plans = of(Weather::Storm).chain(of(Weather::Calm)).chain([Plan::of_servers(7, site)]);
            let round =
                |mut plan: Plan| (0..plan.first_round()).map(move |_| plan.next().fault).collect::<Vec<_>>();
            let dealt: BTreeSet<Fault> = plans.flat_map(round).collect();
            assert_eq!(dealt, Fault::at(site).into_iter().collect());
        }
    }
}
