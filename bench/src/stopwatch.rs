//! How long something takes.

use std::time::Duration;

pub(crate) use drive::Stopwatch;

/// How long `work` takes.
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let watch = Stopwatch::start();
    work();
    watch.elapsed()
}
