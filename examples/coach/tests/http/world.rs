//! Everything under load, and what was wrong with it.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use reqwest::Result;

use crate::{
    answer::Answer,
    fleet::Fleet,
    program::Coach,
    weather::{Condition, Weather},
};

/// For how long an instance may know nothing of what another has changed: promise 4, with the tick of a clock.
pub(crate) const BOUND: Duration = Duration::from_millis(1_600);

pub(crate) struct World {
    pub(crate) fleet: Fleet,
    pub(crate) weather: Weather,
    over: AtomicBool,
    wrong: Mutex<Vec<String>>,
    /// How often what came about.
    tally: Mutex<BTreeMap<&'static str, u64>>,
    /// Which profile of whom is known everywhere, and since when.
    settled: Mutex<BTreeMap<String, Vec<(f64, Instant)>>>,
}

impl World {
    pub(crate) fn new(fleet: Fleet) -> Self {
        Self {
            fleet,
            weather: Weather::fair(),
            over: AtomicBool::new(false),
            wrong: Mutex::default(),
            tally: Mutex::default(),
            settled: Mutex::default(),
        }
    }

    /// Calls the next instance, and tells the answer if it is one of `expected`. A 503 needs something that excuses it.
    pub(crate) async fn call(
        &self,
        what: &'static str,
        expected: &[u16],
        excuses: &[&Condition],
        call: impl AsyncFnOnce(&Coach) -> Result<Answer>,
    ) -> Option<Answer> {
        let excuse = || excuses.iter().find(|excuse| excuse.holds());
        let (before, coach) = (excuse(), self.fleet.next());
        match call(&coach).await {
            Ok(answer) if expected.contains(&answer.status) => {
                self.count(what);
                return Some(answer);
            }
            Ok(answer) => match before.or_else(excuse).filter(|_| answer.status == 503) {
                Some(excuse) => self.count(excuse.name),
                None => self.blame(format!("{what}: {answer:?}")),
            },
            Err(_) if self.weather.loss.holds() => self.count(self.weather.loss.name),
            Err(error) => self.blame(format!("{what}: {error}")),
        }
        None
    }

    pub(crate) fn blame(&self, what: String) {
        lock(&self.wrong).push(what);
    }

    pub(crate) fn count(&self, what: &'static str) {
        *lock(&self.tally).entry(what).or_default() += 1;
    }

    pub(crate) fn settle(&self, user: &str, vo2max: f64) {
        lock(&self.settled).entry(user.into()).or_default().push((vo2max, now()));
    }

    /// The least that whoever asks now may be coached as: profiles only ever rise here.
    pub(crate) fn floor(&self, user: &str) -> f64 {
        let (settled, now) = (lock(&self.settled), now());
        let profiles = settled.get(user).into_iter().flatten();
        let old = profiles.rev().find(|(_, since)| now.duration_since(*since) >= BOUND);
        old.map_or(0.0, |(vo2max, _)| *vo2max)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    pub(crate) fn end(&self) {
        self.over.store(true, SeqCst);
    }

    /// What came about how often, if nothing was wrong.
    pub(crate) fn verdict(&self) -> BTreeMap<&'static str, u64> {
        let wrong = lock(&self.wrong);
        assert!(wrong.is_empty(), "{} were wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(10)]);
        lock(&self.tally).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a bound of the promises is measured by the machine's clock")]
fn now() -> Instant {
    Instant::now()
}
