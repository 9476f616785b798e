//! Who is met most often: ids that are read, subjects that are refused. Of many sightings a sample is counted, in bounded
//! room, and counts fade, so that they tell of the last minutes.

mod top;
mod turn;

use crate::{clock::Clock, dice::Dice, hash::Seed, key::Name, sync::Mutex};

use self::{
    top::{Place, Top},
    turn::Turn,
};

/// So many are told apart. Whoever is met more often than one in so many times is among them.
const ROOM: usize = 128;

/// So many are told of.
const TOLD: usize = 50;

thread_local! {
    static READS: Turn = const { Turn::new() };
    static REFUSALS: Turn = const { Turn::new() };
}

/// Somebody who was met often, with how often lately: what was a minute ago counts half, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// The space, or the policy.
    pub(crate) group: Name,
    /// The encoded id, or the mark of a subject.
    pub(crate) name: Box<str>,
    pub(crate) times: u64,
    /// By how much that may be too many.
    pub(crate) error: u64,
}

/// What a process has met.
#[derive(Debug)]
pub(crate) struct HeavyHitters {
    dice: Dice,
    seed: Seed,
    /// Only this process can tell whether a subject has a mark.
    secret: [u8; 32],
    reads: Mutex<Top>,
    refusals: Mutex<Top>,
}

impl HeavyHitters {
    pub(crate) fn new(dice: Dice) -> Self {
        let secret = [dice.wide(), dice.wide()].map(u128::to_le_bytes);
        Self {
            secret: std::array::from_fn(|at| secret[at / 16][at % 16]),
            dice,
            seed: Seed::default(),
            reads: Mutex::new(Top::new(ROOM)),
            refusals: Mutex::new(Top::new(ROOM)),
        }
    }

    /// Takes note of a read, whatever answers it. All but some of the calls only count down; none waits for another, and
    /// an id of usual length takes no allocation.
    #[inline]
    pub(crate) fn read(&self, clock: &Clock, space: &Name, id: &str) {
        if let Some(times) = READS.with(Turn::pass) {
            self.count_read(clock, space, id, times);
        }
    }

    #[cold]
    fn count_read(&self, clock: &Clock, space: &Name, id: &str, times: u32) {
        READS.with(|turn| turn.draw(clock.coarse(), &self.dice));
        let Some(mut reads) = self.reads.try_lock() else { return };
        let place = Place::of(&self.seed, space, id);
        reads.see(clock.coarse(), place, times, |name| name.push_str(id));
    }

    /// Takes note of a refusal.
    pub(crate) fn refused(&self, clock: &Clock, policy: &Name, subject: &str) {
        let Some(times) = REFUSALS.with(Turn::pass) else { return };
        REFUSALS.with(|turn| turn.draw(clock.coarse(), &self.dice));
        let Some(mut refusals) = self.refusals.try_lock() else { return };
        let place = Place::of(&self.seed, policy, subject);
        refusals.see(clock.coarse(), place, times, |name| name.push_str(&self.mark(subject)));
    }

    /// The ids that were read most, those first.
    pub(crate) fn most_read(&self, clock: &Clock) -> Vec<Sighting> {
        self.reads.lock().told(clock.coarse(), TOLD)
    }

    /// The marks of the subjects that were refused most, those first.
    pub(crate) fn most_refused(&self, clock: &Clock) -> Vec<Sighting> {
        self.refusals.lock().told(clock.coarse(), TOLD)
    }

    /// What tells a subject from others, and nothing else of it.
    fn mark(&self, subject: &str) -> Box<str> {
        let hash = blake3::keyed_hash(&self.secret, subject.as_bytes());
        hash.to_hex()[..12].into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    /// A rank by Zipf's law, as requests have it.
    fn zipf(rng: &mut StdRng, weights: &[f64]) -> usize {
        let mut at = rng.random_range(0.0..weights.iter().sum());
        weights
            .iter()
            .position(|weight| {
                at -= weight;
                at < 0.0
            })
            .unwrap_or(0)
    }

    #[test]
    fn the_hottest_of_many_ids_are_found_in_their_order() {
        let (heavy, (clock, time), space) = (HeavyHitters::new(Dice::seeded(1)), Clock::manual(), name("a"));
        let weights: Vec<f64> = (1..=2_000).map(|rank| 1.0 / f64::from(rank)).collect();
        let (mut rng, mut exact) = (StdRng::seed_from_u64(7), HashMap::<usize, u64>::new());
        for n in 0..200_000 {
            let rank = zipf(&mut rng, &weights);
            *exact.entry(rank).or_default() += 1;
            heavy.read(&clock, &space, &rank.to_string());
            if n % 20_000 == 0 {
                time.advance(std::time::Duration::from_millis(5));
            }
        }
        let told = heavy.most_read(&clock);
        let first: Vec<_> =
            told.iter().take(5).map(|sighting| sighting.name.parse::<usize>().unwrap()).collect();
        assert!((0..3).all(|rank| first.contains(&rank)), "{first:?}");
        for sighting in told.iter().take(3) {
            let exact = exact[&sighting.name.parse().unwrap()];
            assert!(sighting.times.abs_diff(exact) * 4 < exact, "{sighting:?}: {exact}");
        }
    }

    #[test]
    fn reads_in_the_step_of_the_sampling_are_not_missed() {
        let (heavy, (clock, _), space) = (HeavyHitters::new(Dice::seeded(1)), Clock::manual(), name("a"));
        for n in 0..64_000_u32 {
            let id = if n.is_multiple_of(64) { "every 64th" } else { "others" };
            heavy.read(&clock, &space, id);
        }
        let told = heavy.most_read(&clock);
        let rare = told.iter().find(|sighting| &*sighting.name == "every 64th").unwrap();
        assert!((700..1_400).contains(&rare.times), "{rare:?}");
    }

    #[test]
    fn few_reads_are_counted_one_by_one() {
        let (heavy, (clock, time), space) = (HeavyHitters::new(Dice::seeded(1)), Clock::manual(), name("a"));
        for _ in 0..30 {
            heavy.read(&clock, &space, "x");
            time.advance(std::time::Duration::from_millis(60));
        }
        // What the thread has counted down before belongs to others.
        let times = heavy.most_read(&clock)[0].times;
        assert!((20..=31).contains(&times), "{times}");
    }

    #[test]
    fn a_refused_subject_is_told_from_others_and_not_named() {
        let (heavy, (clock, time), policy) =
            (HeavyHitters::new(Dice::seeded(1)), Clock::manual(), name("api"));
        for n in 0..100 {
            heavy.refused(&clock, &policy, if n % 4 == 0 { "user:ann" } else { "user:bob" });
            time.advance(std::time::Duration::from_millis(60));
        }
        let told = heavy.most_refused(&clock);
        assert_eq!(told.len(), 2);
        assert!(told[0].times > told[1].times, "{told:?}");
        assert!(told.iter().all(|sighting| sighting.name.len() == 12 && !sighting.name.contains("user")));
        let elsewhere = HeavyHitters::new(Dice::seeded(2));
        assert_ne!(elsewhere.mark("user:bob"), heavy.mark("user:bob"));
    }
}
