//! What came while something else was on its way is not taken for done with that.

use super::*;
use crate::{
    bus::Bus,
    cache::{epochs::Epochs, options::Options, redis::RedisBackend},
    dice::Dice,
    key::{App, Keys, Name},
    observe::Silent,
    redis::{Address, Hooks, Redis},
    tasks::Tasks,
};

#[derive(Debug)]
struct Nobody;

impl Hooks for Nobody {
    fn server_changed(&self) {}

    fn unusable(&self) {}
}

/// A space in a Redis that nobody asks.
fn store() -> Arc<dyn Distant> {
    let (clock, dice) = (Clock::manual().0, Dice::seeded(1));
    let tasks = Tasks::on(tokio::runtime::Handle::current());
    let address = Address::parse("redis://127.0.0.1:1").unwrap();
    let patience = (Duration::from_millis(50), clock);
    let (hooks, observe) = (Arc::new(Nobody), Arc::new(Silent));
    let redis = Redis::open(address, patience, dice.clone(), tasks.clone(), hooks, observe);
    let keys = Keys::new(App::new("deferred").unwrap());
    let bus = Bus::open(&redis, keys.invalidate_channel(), &dice, &tasks, |_| ());
    let (place, options) = ((Name::new("texts").unwrap(), Space(0)), Options::new(Duration::from_secs(1)));
    Arc::new(RedisBackend::new(place, &options, Epochs::new(true).open(options.coherence), keys, redis, bus))
}

fn deferred() -> Deferred {
    Deferred::new(Clock::manual().0)
}

#[tokio::test]
async fn a_confirmed_change_does_not_stand_for_one_that_was_kept_after_it_was_sent() {
    let (deferred, store) = (deferred(), store());
    let mark = deferred.mark();
    deferred.keep(&store, "a", &Change::Invalidate);
    deferred.confirm(&store, "a", &Change::Invalidate, mark);
    assert!(deferred.holds(store.space(), "a"));
    deferred.confirm(&store, "a", &Change::Invalidate, deferred.mark());
    assert!(!deferred.holds(store.space(), "a"));
}

#[tokio::test]
async fn a_change_while_its_space_is_cleared_has_it_cleared_again() {
    let (deferred, store) = (deferred(), store());
    for n in 0..=MOST {
        deferred.keep(&store, &n.to_string(), &Change::Invalidate);
    }
    assert_eq!(deferred.backlog().0, 1);
    let sent = deferred.mark();
    deferred.keep(&store, "late", &Change::Invalidate);
    deferred.confirm_raise(&store, &Group::Space, sent);
    assert!(deferred.holds(store.space(), "late"));
    deferred.confirm_raise(&store, &Group::Space, deferred.mark());
    assert!(!deferred.holds(store.space(), "late"));
}

#[tokio::test]
async fn what_was_confirmed_while_the_server_became_another_one_is_done_again() {
    let (deferred, store) = (deferred(), store());
    let mark = deferred.mark();
    deferred.replay();
    deferred.confirm(&store, "a", &Change::Invalidate, mark);
    assert!(deferred.holds(store.space(), "a"), "the one that confirmed it may be the one of before");
    deferred.confirm_raise(&store, &Group::Space, mark);
    assert!(deferred.holds_all(store.space()));
    deferred.confirm_raise(&store, &Group::Space, deferred.mark());
    assert!(!deferred.holds(store.space(), "a"));
}
