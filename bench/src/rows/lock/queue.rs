//! A lock for which many wait.

use std::{sync::Arc, time::Duration};

use contest::Lock;
use futures::future::join_all;
use ours::Locker;
use serde::Deserialize;
use tally::{
    rounds::{Side, figures, play},
    table::Table,
    verdict::{Because, Better},
};

use super::{
    Contestant, Contestants, Effort, Place, ROW,
    contestant::SPREAD,
    handover::{Handovers, bound, quantile},
};
use crate::stopwatch::Stopwatch;

const WAITERS: usize = 64;
/// They come one after the other within this time.
const COME: Duration = Duration::from_millis(200);
/// In one round, however fast the queue empties.
const MOST_QUEUES: usize = 8;

const ABOUT: &str = "\
64 tasks wait for a lock that another one holds, after they have come one after the other within 200 ms. It is released,
and each of them takes it once and releases it at once. A hand-over lasts from the call of a release until the next holder
has its lock. Four processes are four connections to one Redis, here on one runtime of two threads. rslock asks again
after a random time below 200 ms, redis-py after 100 ms. Commands are those that Redis carried out for one acquisition
and its release, those within scripts included.";

/// Why redis-py has Redis carry out fewer commands.
pub(super) const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "redis-py asks again every 100 ms and hears nothing in between, so that it asks seldom and has the lock late. \
             A waiter of Forebay is woken when the lock is free: for that it leaves a mark in the lock, which the release \
             finds and publishes. The commands within scripts are counted, the fence's among them.",
    plan: "None: hand-overs are many times faster for it, and nobody asks while a lock is held.",
}];

/// One queue, from the first release to the last.
#[derive(Debug, Default, Deserialize)]
struct Queue {
    seconds: f64,
    handovers: Vec<f64>,
}

/// The queues of one round.
#[derive(Debug, Clone)]
struct Sample {
    per_second: f64,
    handovers: Vec<f64>,
    commands: f64,
}

pub(super) fn run(place: &Place, contestants: &mut Contestants, effort: &Effort) -> Vec<Table> {
    let sides = contestants.all.iter_mut().map(|contestant| {
        let mut round = 0;
        Side::new(contestant.name(), move || {
            round += 1;
            place.queues(contestant, &format!("queue-{round}"), effort.span)
        })
    });
    let played = play(sides.collect(), effort.rounds);
    let table = |unit, decimals, better, figure: fn(&Sample) -> f64| {
        let mut table = Table::new(ROW, Locker::RELEASES, figures(&played, figure));
        table.title = format!("A lock for which 64 wait: {unit}");
        table.about = ABOUT.into();
        (table.unit, table.decimals) = (unit, decimals);
        let ours = [Locker::RELEASES, SPREAD];
        for one in ours {
            table.judge(one, &table.peers(&ours, &[]), better, &WHY);
        }
        table
    };
    let rate = table("acquisitions a second", 0, Better::More, |sample| sample.per_second);
    let half = table("ms until half of the hand-overs are over", 2, Better::Less, |sample| {
        quantile(&sample.handovers, 0.5)
    });
    let mut most = table("ms until 99 of 100 hand-overs are over", 2, Better::Less, |sample| {
        quantile(&sample.handovers, 0.99)
    });
    for side in played.iter().filter(|side| [Locker::RELEASES, SPREAD].contains(&side.name)) {
        let all: Vec<f64> = side.samples.iter().flat_map(|sample| sample.handovers.clone()).collect();
        bound(&mut most, side.name, &all);
    }
    vec![rate, half, most, table("commands for one acquisition", 1, Better::Less, |sample| sample.commands)]
}

impl Place {
    /// One queue after the other until they have taken so long together.
    fn queues(&self, contestant: &mut Contestant, name: &str, span: Duration) -> Sample {
        let before = self.redis.commands_processed();
        let (mut sum, mut queues) = (Queue::default(), 0);
        while queues < MOST_QUEUES && sum.seconds < span.as_secs_f64() {
            let queue = self.queue(contestant, name);
            sum.seconds += queue.seconds;
            sum.handovers.extend(queue.handovers);
            queues += 1;
        }
        // The question after the first one is among them.
        let commands = self.redis.commands_processed() - before - 1;
        let acquisitions = queues * (WAITERS + 1);
        assert_eq!(sum.handovers.len(), queues * WAITERS, "everyone has the lock once");
        Sample {
            per_second: sum.handovers.len() as f64 / sum.seconds,
            handovers: sum.handovers,
            commands: commands as f64 / acquisitions as f64,
        }
    }

    fn queue(&self, contestant: &mut Contestant, name: &str) -> Queue {
        match contestant {
            Contestant::Crate { processes, .. } => self.runtime.block_on(queue(processes, name)),
            Contestant::Program(program) => {
                program.ask(&format!("queue {name} {WAITERS}")).expect("a program that has started goes on")
            }
        }
    }
}

async fn queue(processes: &[Arc<dyn Lock>], name: &str) -> Queue {
    let handovers = Handovers::default();
    let first = handovers.acquire(&*processes[0], name).await;
    let waiters = (0..WAITERS).map(|number| {
        let (handovers, lock) = (handovers.clone(), processes[number % processes.len()].clone());
        let name = name.to_owned();
        tokio::spawn(async move {
            tokio::time::sleep(COME * number as u32 / WAITERS as u32).await;
            let holding = handovers.acquire(&*lock, &name).await;
            handovers.release(holding).await;
        })
    });
    let waiters: Vec<_> = waiters.collect();
    tokio::time::sleep(COME).await;
    let watch = Stopwatch::start();
    handovers.release(first).await;
    let ended = join_all(waiters).await;
    assert!(ended.iter().all(Result::is_ok), "everyone has the lock once");
    Queue { seconds: watch.elapsed().as_secs_f64(), handovers: handovers.seconds() }
}
