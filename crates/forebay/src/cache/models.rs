//! Models of the shipped state machines, run over many interleavings by the shuttle checker.
//!
//! A model that cannot turn red proves nothing: each names the change that turns it red.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use shuttle::{check_random, thread};

use super::{
    backend::{
        Answer as Asked, Backend, Budget, Change, Finder, Leased, Question, Request, Seen, Settle, Stored,
    },
    entry::{Entry, Source},
    fence::Fence,
    fixture::{self, LIFE},
    flight::Flight,
    flights::Boarding,
    inner::Inner,
    numbers::{Group, Known, Stamp},
    options::Options,
    seal::Opened,
    token::Token,
    verdict::{Answer, Outcome, Patience, Seat, Verdict},
};
use crate::{bus::Kind, clock::Clock, codec::Raw};

const RUNS: usize = 5_000;

/// A store that no model asks.
struct Unasked;

impl Backend for Unasked {
    fn budget(&self) -> Budget {
        Budget(Duration::MAX)
    }

    fn read<'a>(&'a self, _: &'a str, _: &'a mut Budget) -> Asked<'a, Option<Stored>> {
        unreachable!("models do not ask the store")
    }

    fn lease<'a>(&'a self, _: &'a str, _: Request, _: &'a mut Budget) -> Asked<'a, Leased> {
        unreachable!("models do not ask the store")
    }

    fn settle<'a>(&'a self, _: &'a str, _: Token, _: Settle) -> Asked<'a, bool> {
        unreachable!("models do not ask the store")
    }

    fn change<'a>(&'a self, _: &'a str, _: Change) -> Asked<'a, ()> {
        unreachable!("models do not ask the store")
    }

    fn inspect<'a>(&'a self, _: &'a str) -> Asked<'a, Seen> {
        unreachable!("models do not ask the store")
    }

    fn numbers<'a>(&'a self, _: Question<'a>, _: &'a mut Budget) -> Asked<'a, Known> {
        unreachable!("models do not ask the store")
    }

    fn raise<'a>(&'a self, _: &'a Group, _: u64) -> Asked<'a, u64> {
        unreachable!("models do not ask the store")
    }

    fn find<'a>(&'a self, _: &'a dyn Finder) -> BoxFuture<'a, bool> {
        unreachable!("models do not ask the store")
    }

    fn wake_name(&self, id: &str) -> String {
        id.into()
    }
}

fn inner(runtime: &tokio::runtime::Runtime) -> Arc<Inner<Bytes>> {
    let (clock, _) = Clock::manual();
    let shared = fixture::shared(runtime.handle().clone(), clock);
    Arc::new(fixture::inner(shared, Options::new(LIFE), Raw, Arc::new(Unasked)))
}

fn answer() -> Answer<Bytes> {
    Answer::Present(Entry {
        value: Arc::new(Bytes::from_static(b"old")),
        age: Duration::ZERO,
        fresh_for: LIFE,
        source: Source::Loaded,
        validator: None,
        load_time: Duration::ZERO,
        id: 1,
        stamp: Stamp::default(),
    })
}

fn opened() -> Opened<Bytes> {
    let stamp = Stamp::default();
    Opened { answer: answer(), id: 1, fresh_for: LIFE, kept_for: LIFE, bytes: 3, stamp }
}

/// Begins the flight of `a`, or joins it.
fn board(inner: &Inner<Bytes>) -> (Arc<Flight<Bytes>>, bool) {
    match inner.flights.board(&"a".into(), seat(inner, false), || inner.new_flight(false, true)) {
        Boarding::Lead(flight) => (flight, true),
        Boarding::Join(flight) => (flight, false),
    }
}

fn seat(inner: &Inner<Bytes>, leads: bool) -> Seat {
    Seat { arrived: inner.flights.arrive(), fresh: false, takes_absence: false, takes_lease: false, leads }
}

/// Runs a model in a runtime that runs nothing, since tasks need one to be made for, and pilots one to be on.
fn check(model: impl Fn(Arc<Inner<Bytes>>) + Send + Sync + 'static) {
    let runtime = Arc::new(tokio::runtime::Builder::new_current_thread().build().unwrap());
    let runs_nothing = runtime.clone();
    let _here = runs_nothing.enter();
    check_random(move || model(inner(&runtime)), RUNS);
}

/// Red when `Fence::pass` looks at the cut before it takes the lock, or `overtake` removes before it cuts.
#[test]
fn what_was_overtaken_never_stays_in_process_memory() {
    check(|inner| {
        let (flight, _) = board(&inner);
        let filler = inner.clone();
        let fill = thread::spawn(move || filler.memorize("a", &flight.fence, &opened()));
        inner.overtake("a", Kind::Gone);
        fill.join().unwrap();
        assert!(inner.recall("a").is_none());
    });
}

/// Red when an entry is stamped with the epoch of its insertion rather than of its fence.
#[test]
fn what_was_asked_for_in_an_earlier_epoch_is_never_trusted() {
    check(|inner| {
        let fence = Fence::raise(&inner.numbers.epoch);
        let filler = inner.clone();
        let fill = thread::spawn(move || filler.memorize("a", &fence, &opened()));
        inner.numbers.epoch.missed();
        fill.join().unwrap();
        assert!(inner.recall("a").is_none());
    });
}

/// Red when an entry of an odd epoch is stamped with that, or hearing again does not move the epoch.
#[test]
fn what_was_asked_for_while_deaf_is_never_trusted() {
    check(|inner| {
        inner.numbers.epoch.set_hearing(false);
        let fence = Fence::raise(&inner.numbers.epoch);
        let filler = inner.clone();
        let fill = thread::spawn(move || filler.memorize("a", &fence, &opened()));
        assert!(inner.recall("a").is_none());
        inner.numbers.epoch.set_hearing(true);
        fill.join().unwrap();
        assert!(inner.recall("a").is_none());
    });
}

/// Red when `detach` leaves the flight among the flights, or an accepted answer serves a detached flight.
#[test]
fn who_comes_after_an_invalidation_is_never_served_by_a_load_from_before() {
    check(|inner| {
        let (flight, _) = board(&inner);
        flight.load_begins(inner.flights.depart());
        let leader = inner.clone();
        let load = thread::spawn(move || {
            flight.loaded(answer());
            let accepted = flight.is_attached().then(|| leader.flights.depart());
            leader.memorize("a", &flight.fence, &opened());
            leader.flights.end("a", &flight);
            flight.finish(Outcome::Loaded { accepted });
        });
        inner.overtake("a", Kind::Gone);
        let seat = seat(&inner, false);
        assert!(inner.recall("a").is_none());
        let (flight, leads) = board(&inner);
        assert!(leads, "the flight from before is still there");
        assert!(matches!(flight.verdict(seat, Patience::default()), Verdict::Pending));
        load.join().unwrap();
    });
}

/// Red when `verdict` serves a caller from after the load began by a load that was not accepted.
#[test]
fn who_comes_during_a_load_is_served_only_if_that_load_is_accepted() {
    check(|inner| {
        let (flight, _) = board(&inner);
        flight.load_begins(inner.flights.depart());
        let late = seat(&inner, false);
        assert!(flight.board(false));
        let changer = inner.clone();
        let change = thread::spawn(move || changer.overtake("a", Kind::Gone));
        flight.loaded(answer());
        let accepted = flight.is_attached().then(|| inner.flights.depart());
        flight.finish(Outcome::Loaded { accepted });
        match flight.verdict(late, Patience::default()) {
            Verdict::Served(_) => assert!(accepted.is_some()),
            verdict => assert!(matches!(verdict, Verdict::Next), "{verdict:?}"),
        }
        change.join().unwrap();
    });
}

/// Red when `board` takes no notice of a flight's end, or `leave` counts and decides in two steps.
#[test]
fn nobody_boards_a_flight_that_everybody_has_left() {
    check(|inner| {
        let (first, _) = board(&inner);
        let leaver = first.clone();
        let leave = thread::spawn(move || leaver.leave(false));
        let (second, leads) = board(&inner);
        leave.join().unwrap();
        // Either it was kept alive by the second caller, or that one leads another.
        assert_eq!(leads, !Arc::ptr_eq(&first, &second));
        assert_eq!(leads, first.abandoned.notified().now_or_never().is_some());
    });
}

/// Red when `enter` looks for the cycle before it takes the lock under which it records the wait.
#[test]
fn two_loads_that_ask_for_each_other_never_both_wait() {
    check(|inner| {
        let waits = inner.shared.waits.clone();
        let (a, b) = (waits.number(), waits.number());
        let other = waits.clone();
        let asks = thread::spawn(move || other.enter(b, a).map(std::mem::forget).is_some());
        let waits_for_b = waits.enter(a, b).map(std::mem::forget).is_some();
        assert!(!(asks.join().unwrap() && waits_for_b));
    });
}

/// Red when `park` puts the way back without a look at who wants it, or `take_over` leaves alone what is not there.
#[test]
fn a_flight_that_somebody_depends_on_is_never_left_with_its_pilot() {
    check(|inner| {
        let (flight, _) = board(&inner);
        let (flown, tasks) = (flight.clone(), inner.shared.context.tasks.clone());
        let pilot = thread::spawn(move || {
            flown.helm.begin(Box::pin(std::future::pending()), &tasks);
            // Once, and never again.
            flown.helm.fly(&tasks).now_or_never();
        });
        let tasks = &inner.shared.context.tasks;
        flight.helm.take_over(tasks);
        // A shutdown waits for it from now on.
        assert!(tasks.count() > 0);
        pilot.join().unwrap();
        assert!(flight.helm.is_released() && tasks.count() > 0);
    });
}

/// Red when `poll` keeps a way that has asked for a task.
#[test]
fn a_flight_that_goes_on_after_its_read_is_never_left_with_its_pilot() {
    check(|inner| {
        let (flight, _) = board(&inner);
        let (flown, tasks) = (flight.clone(), inner.shared.context.tasks.clone());
        let pilot = thread::spawn(move || {
            let goes_on = flown.clone();
            let way = async move { goes_on.helm.left_by_pilot().await };
            flown.helm.begin(Box::pin(way), &tasks);
            flown.helm.fly(&tasks).now_or_never();
        });
        flight.helm.take_over(&inner.shared.context.tasks);
        pilot.join().unwrap();
        assert!(flight.helm.is_released() && inner.shared.context.tasks.count() == 1);
    });
}
