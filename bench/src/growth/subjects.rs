//! More subjects of a limiter.

use std::sync::Arc;

use anyhow::{Result, ensure};
use contest::{Check, Step, Windows};
use forebay_rig::Redis;
use futures::future::BoxFuture;
use ours::limits::{Limits, Mode};
use tally::rounds::play;
use tokio::runtime::Runtime;

use super::{
    Curve, Extent, Line, Scale, TASKS,
    copies::{Copies, named},
    decades, each,
    reads::scattered,
};
use crate::steps::Track;

/// The names of what is measured of each mode.
const MODES: [(Mode, &str, &str); 3] = [
    (Mode::Strict, "`strict`", "bytes of Redis for a subject, `strict`"),
    (Mode::Sliding, "`sliding`", "the same, `sliding`"),
    (Mode::Gcra, "`gcra`", "the same, `gcra`"),
];

const ABOUT: &str = "\
64 tasks check one subject each at a time over Redis, each subject as often as any other: 1,000,000 a minute and
100,000,000 an hour, so that all are admitted. What a subject takes is the growth of `used_memory` since there was one.";

const BENDS: &str = "\
A check is one script on one key, and what the script does is the same for each: it grows only by what the look-up of the
key takes, which waits for main memory once the subjects have outgrown the processor's caches. What a subject takes swings
with the tables of Redis, which double their buckets when they are full.";

/// Checks of so many subjects.
#[derive(Debug)]
struct Checks {
    limits: Arc<Limits>,
    subjects: u64,
}

impl Step for Checks {
    fn name(&self) -> &'static str {
        self.limits.name()
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        self.limits.check(named(scattered(number as u64) % self.subjects))
    }
}

pub(super) fn run(extent: &Extent) -> Result<Curve> {
    let runtime = super::runtime()?;
    let (mut lines, mut beside) = (Vec::new(), Vec::new());
    for (mode, line, bytes) in MODES {
        let grown = grow(&runtime, extent, mode, [Line::new(line), Line::new(bytes)])?;
        let [line, bytes] = grown;
        lines.push(line);
        beside.push(bytes);
    }
    Ok(Curve {
        name: "subjects",
        title: "More subjects of a limiter",
        about: ABOUT,
        more: "subjects",
        scale: Scale::Count,
        unit: "µs per check",
        lines,
        beside,
        bends: BENDS,
        missing: Vec::new(),
    })
}

fn grow(
    runtime: &Runtime,
    extent: &Extent,
    mode: Mode,
    [mut line, mut bytes]: [Line; 2],
) -> Result<[Line; 2]> {
    let redis = Redis::start();
    let limits = Arc::new(Limits::new(runtime, &redis.url(), mode, Windows::Two));
    ensure!(runtime.block_on(limits.check(named(0))), "the first check is admitted");
    let mut copies = Copies::of(&redis)?;
    let track = Track { runtime, span: extent.span };
    for subjects in decades(extent.subjects) {
        copies.grow_to(subjects)?;
        let checks = track.rate(TASKS, Arc::new(Checks { limits: limits.clone(), subjects }));
        let played = play(vec![checks], super::ROUNDS).remove(0);
        line.push(subjects, played.samples.into_iter().map(each).collect());
        bytes.push(subjects, vec![copies.bytes_each()?]);
    }
    Ok([line, bytes])
}
