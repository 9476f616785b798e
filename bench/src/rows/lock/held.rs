//! A lock that is held for a while, with one who waits for it.

use std::{sync::Arc, time::Duration};

use contest::Lock;
use futures::future::join_all;
use ours::Locker;
use tally::{
    rounds::{Side, figures, play},
    table::Table,
    verdict::Better,
};

use super::{
    Contestant, Contestants, Effort, Place, ROW,
    contestant::SPREAD,
    handover::{Handovers, bound, quantile},
    queue::WHY,
};

/// So many locks at a time.
const LOCKS: usize = 16;
/// The shortest that one is held. The longest is nearly twice as long.
const HOLD: Duration = Duration::from_millis(500);

/// How long one is held in the mean.
const MEAN: Duration = Duration::from_micros(734_375);
/// For one lock Forebay is asked so often by others than a waiter that waits: for the lock, to release it twice, and by
/// the waiter when it comes and when it is woken.
const OTHERS: f64 = 5.0;

const ABOUT: &str = "\
16 locks at a time, each held for 500 to 970 ms, and each with one task that waits for it from the beginning. A hand-over
lasts from the call of the release until the waiter has the lock. Commands are those that Redis carried out for one lock
which is acquired, waited for, released, and acquired and released once more, those within scripts included.";

/// The locks of one round.
#[derive(Debug, Clone)]
struct Sample {
    handovers: Vec<f64>,
    commands: f64,
    /// How often a waiter of Forebay asked in a second, besides the first time and the last.
    often: f64,
}

pub(super) fn run(place: &Place, contestants: &mut Contestants, effort: &Effort) -> Vec<Table> {
    let sides = contestants.all.iter_mut().filter(|one| one.name() != SPREAD).map(|contestant| {
        let mut round = 0;
        Side::new(contestant.name(), move || {
            round += 1;
            place.held(contestant, &format!("held-{round}"))
        })
    });
    let played = play(sides.collect(), effort.rounds);
    let table = |unit, decimals, figure: fn(&Sample) -> f64| {
        let mut table = Table::new(ROW, Locker::RELEASES, figures(&played, figure));
        table.title = format!("A lock for which one waits: {unit}");
        table.about = ABOUT.into();
        (table.unit, table.decimals) = (unit, decimals);
        let peers = table.peers(&[Locker::RELEASES], &[]);
        table.judge(Locker::RELEASES, &peers, Better::Less, &WHY);
        table
    };
    let half =
        table("ms until half of the hand-overs are over", 2, |sample| quantile(&sample.handovers, 0.5));
    let mut most =
        table("ms until 99 of 100 hand-overs are over", 2, |sample| quantile(&sample.handovers, 0.99));
    let mut commands = table("commands for one lock", 1, |sample| sample.commands);
    for side in played.iter().filter(|side| side.name == Locker::RELEASES) {
        let all: Vec<f64> = side.samples.iter().flat_map(|sample| sample.handovers.clone()).collect();
        bound(&mut most, side.name, &all);
        let often = side.samples.iter().map(|sample| sample.often).fold(0.0, f64::max);
        let promise =
            "A waiter of Forebay asks at most 4 times a second, but for its first question and its last";
        commands.bound(promise, often, often <= 4.0);
    }
    vec![half, most, commands]
}

impl Place {
    fn held(&self, contestant: &mut Contestant, name: &str) -> Sample {
        let (before, scripts) = (self.redis.commands_processed(), self.redis.script_calls());
        let handovers = match contestant {
            Contestant::Crate { processes, .. } => self.runtime.block_on(held(&processes[0], name)),
            Contestant::Program(program) => {
                let order = format!("held {LOCKS} {} {name}", HOLD.as_secs_f64());
                program.ask(&order).expect("a program that has started goes on")
            }
        };
        let scripts = self.redis.script_calls() - scripts;
        // The rig's own are among them: the question before, and two each time for the scripts.
        let commands = self.redis.commands_processed() - before - 5;
        assert_eq!(handovers.len(), LOCKS, "every waiter has its lock");
        let [commands, scripts] = [commands, scripts].map(|count| count as f64 / LOCKS as f64);
        Sample { handovers, commands, often: (scripts - OTHERS) / MEAN.as_secs_f64() }
    }
}

async fn held(lock: &Arc<dyn Lock>, name: &str) -> Vec<f64> {
    let all = (0..LOCKS).map(|number| {
        let hold = HOLD + HOLD * number as u32 / LOCKS as u32;
        let (lock, name) = (lock.clone(), format!("{name}-{number}"));
        tokio::spawn(async move { held_one(lock, name, hold).await })
    });
    let all = join_all(all.collect::<Vec<_>>()).await;
    all.into_iter().flat_map(|seconds| seconds.expect("nobody panics")).collect()
}

async fn held_one(lock: Arc<dyn Lock>, name: String, hold: Duration) -> Vec<f64> {
    let handovers = Handovers::default();
    let first = handovers.acquire(&*lock, &name).await;
    let waiter = tokio::spawn({
        let (handovers, lock) = (handovers.clone(), lock.clone());
        async move {
            let holding = handovers.acquire(&*lock, &name).await;
            handovers.release(holding).await;
        }
    });
    tokio::time::sleep(hold).await;
    handovers.release(first).await;
    waiter.await.expect("it has its lock");
    handovers.seconds()
}
