//! Tasks that do one thing again and again, as fast as they can.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use contest::Step;
use futures::future::{BoxFuture, join_all};
use tally::{rounds::Side, table::median};
use tokio::runtime::Runtime;

use crate::stopwatch::{self, Stopwatch};

/// How often a contestant does it before it is known how fast it is.
const FIRST: usize = 2_000;

/// What each task does at least, so that starting and ending them all is little of it.
const EACH: usize = 50;

/// More steps than one side makes in a run.
const MOST: usize = 1_000_000_000;

/// How many sides have begun, so that no two make the same step.
static SIDES: AtomicUsize = AtomicUsize::new(0);

/// What is done, with a number of its own each time. Whether it went as it should.
pub(crate) type Work = Arc<dyn Fn(usize) -> BoxFuture<'static, bool> + Send + Sync>;

/// How many a second `tasks` tasks do together.
///
/// # Panics
///
/// Panics if more than one of a hundred do not go as they should.
pub(crate) fn per_second(runtime: &Runtime, tasks: usize, numbers: Range<usize>, work: &Work) -> f64 {
    let count = numbers.len();
    let took = stopwatch::time(|| {
        let tasks = (0..tasks).map(|offset| {
            let (work, numbers) = (work.clone(), numbers.clone().skip(offset).step_by(tasks));
            runtime.spawn(async move {
                let mut wrong = 0;
                for number in numbers {
                    wrong += usize::from(!work(number).await);
                }
                wrong
            })
        });
        let ended = runtime.block_on(join_all(tasks.collect::<Vec<_>>()));
        let wrong: usize = ended.into_iter().map(|wrong| wrong.expect("no task panics")).sum();
        go_well(count, wrong);
    });
    count as f64 / took.as_secs_f64()
}

/// How many microseconds one takes, one after the other: the median.
///
/// # Panics
///
/// Panics as [`per_second`].
pub(crate) fn microseconds(runtime: &Runtime, numbers: Range<usize>, work: &Work) -> f64 {
    let work = work.clone();
    let task = runtime.spawn(async move {
        let (mut times, mut wrong) = (Vec::with_capacity(numbers.len()), 0);
        for number in numbers {
            let watch = Stopwatch::start();
            wrong += usize::from(!work(number).await);
            times.push(watch.elapsed().as_secs_f64() * 1e6);
        }
        go_well(times.len(), wrong);
        median(&times)
    });
    runtime.block_on(task).expect("no task panics")
}

/// A request of Forebay fails by itself where the machine stands still for 50 ms, as it may.
fn go_well(count: usize, wrong: usize) {
    assert!(wrong <= count / 100, "{wrong} of {count} do not go as they should");
}

/// How often something is done within `span`, by the `per_second` of the last time.
pub(crate) fn within(span: Duration, per_second: f64) -> usize {
    (per_second * span.as_secs_f64()) as usize
}

/// Where contestants do their steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Track<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) span: Duration,
}

impl<'a> Track<'a> {
    /// The steps a second that so many tasks make together.
    pub(crate) fn rate(self, tasks: usize, contestant: Arc<dyn Step>) -> Side<'a, f64> {
        self.side(contestant, tasks * EACH, move |numbers, work| {
            let rate = per_second(self.runtime, tasks, numbers, work);
            (rate, rate)
        })
    }

    /// The microseconds that a step takes, one after the other.
    pub(crate) fn time(self, contestant: Arc<dyn Step>) -> Side<'a, f64> {
        self.side(contestant, EACH, move |numbers, work| {
            let time = microseconds(self.runtime, numbers, work);
            (time, 1e6 / time)
        })
    }

    /// `measure` gives the sample of `least` steps or more, and how many fit into a second.
    fn side(
        self,
        contestant: Arc<dyn Step>,
        least: usize,
        measure: impl Fn(Range<usize>, &Work) -> (f64, f64) + 'a,
    ) -> Side<'a, f64> {
        let first = SIDES.fetch_add(1, Relaxed) * MOST;
        let (name, mut next, mut count) = (contestant.name(), first, FIRST.max(least));
        let work: Work = Arc::new(move |number| contestant.step(number));
        Side::new(name, move || {
            let (sample, per_second) = measure(next..next + count, &work);
            next += count;
            count = within(self.span, per_second).max(least);
            sample
        })
    }
}
