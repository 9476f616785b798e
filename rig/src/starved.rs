//! Trials of what happens in time, on a machine that may be busy with something else.

use std::{
    collections::HashMap,
    fs, iter,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
    time::Duration,
};

use crate::patience::now;

const ATTEMPTS: u32 = 10;
const STEP: Duration = Duration::from_millis(5);

/// A thread that has waited for so long to run, at once or together, has had no fair share of the machine, nor have those
/// of a trial.
const STARVED: Duration = Duration::from_millis(50);

/// Runs `trial`, which panics at what is wrong and answers what came too late. If threads of this machine could not run
/// when they wanted to, lateness says nothing, and the trial is run again; what is wrong is never excused.
///
/// # Panics
///
/// If the trial panics, or something is late and there is no excuse, or it has been excused ten times.
pub fn unless_starved(trial: impl Fn() -> Result<(), String>) {
    for attempt in 1.. {
        let (result, wait) = watched(&trial);
        match result {
            Ok(()) => return,
            Err(late) if wait > STARVED && attempt < ATTEMPTS => {
                println!("{late}, but a thread waited for {wait:?}: again");
            }
            Err(late) => panic!("{late}"),
        }
    }
}

/// The result of `work`, and how long a thread had to wait meanwhile until it could run, at worst.
fn watched<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (over, worst) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = waits();
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                let began = now();
                thread::sleep(STEP);
                let late = began.elapsed().saturating_sub(STEP);
                worst.fetch_max(late.as_millis().try_into().unwrap_or(u64::MAX), SeqCst);
            }
        });
        // Also after a panic, or the thread would be waited for without end.
        let _ends = Ends(&over);
        work()
    });
    let since = |(thread, wait): (String, Duration)| {
        wait.saturating_sub(before.get(&thread).copied().unwrap_or_default())
    };
    let waits = waits().into_iter().map(since);
    let worst = waits.chain(iter::once(Duration::from_millis(worst.into_inner()))).max();
    (result, worst.unwrap_or_default())
}

/// How long the threads of this process have waited for a processor: the second figure of `/proc/[pid]/schedstat`, where
/// there is that file.
fn waits() -> HashMap<String, Duration> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let wait = |thread: fs::DirEntry| {
        let figures = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanos = figures.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name().into_string().ok()?, Duration::from_nanos(nanos)))
    };
    threads.filter_map(wait).collect()
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_holds_is_run_once() {
        let runs = AtomicU64::new(0);
        unless_starved(|| {
            runs.fetch_add(1, SeqCst);
            Ok(())
        });
        assert_eq!(runs.into_inner(), 1);
    }

    #[test]
    #[should_panic(expected = "late")]
    fn a_trial_that_is_always_late_fails() {
        unless_starved(|| Err("late".into()));
    }

    #[test]
    fn a_trial_that_is_wrong_is_not_run_again_however_starved() {
        let runs = AtomicU64::new(0);
        let tried = std::panic::catch_unwind(|| {
            unless_starved(|| {
                runs.fetch_add(1, SeqCst);
                panic!("wrong");
            });
        });
        assert!(tried.is_err());
        assert_eq!(runs.into_inner(), 1);
    }
}
