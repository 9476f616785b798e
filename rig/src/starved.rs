//! Trials of what happens in time, on a machine that may be busy with something else.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
    time::Duration,
};

use crate::patience::now;

const ATTEMPTS: u32 = 10;
const STEP: Duration = Duration::from_millis(5);

/// A thread that has waited for so long to run has had no fair share of the machine, nor have those of a trial.
const STARVED: Duration = Duration::from_millis(50);

/// Runs `trial`. If it panics while threads of this machine could not run when they wanted to, that says nothing, and
/// it is run again.
///
/// # Panics
///
/// If the trial panics and there is no excuse, or it has been excused ten times.
pub fn unless_starved(trial: impl Fn()) {
    for attempt in 1.. {
        let (result, wait) = watched(|| catch_unwind(AssertUnwindSafe(&trial)));
        match result {
            Ok(()) => return,
            Err(_) if wait > STARVED && attempt < ATTEMPTS => println!("a thread waited for {wait:?}: again"),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// The result of `work`, and how long a thread had to wait meanwhile until it could run, at worst.
fn watched<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (over, worst) = (AtomicBool::new(false), AtomicU64::new(0));
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                let began = now();
                thread::sleep(STEP);
                let late = began.elapsed().saturating_sub(STEP);
                worst.fetch_max(late.as_millis().try_into().unwrap_or(u64::MAX), SeqCst);
            }
        });
        let result = work();
        over.store(true, SeqCst);
        result
    });
    (result, Duration::from_millis(worst.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_holds_is_run_once() {
        let runs = AtomicU64::new(0);
        unless_starved(|| {
            runs.fetch_add(1, SeqCst);
        });
        assert_eq!(runs.into_inner(), 1);
    }

    #[test]
    #[should_panic(expected = "wrong")]
    fn a_trial_that_never_holds_fails() {
        unless_starved(|| panic!("wrong"));
    }
}
