//! The model fails, Redis is killed and comes back empty, an instance is killed, all of it under load: what clients are
//! told then is what the README says, and nothing happens twice.

use std::{env, time::Duration};

use forebay_rig::Redis;
use futures::future::join_all;
use tokio::{join, time::sleep};

use crate::{
    crowd,
    fleet::Fleet,
    program::{Model, Start},
    records::{AGAIN, Records},
    world::World,
};

/// How long the model takes, in ms.
const THINKS: u32 = 100;

/// For how long it fails, in s; with this variable, for a minute.
const FAILS: u32 = 4;
const LONG: &str = "COACH_FAULTS_LONG";

const PAYING: [&str; 2] = ["runner-21", "runner-22"];

/// Each who pays has one payment under way when Redis is emptied, and one when the instance is killed.
const AGAIN_AT_MOST: i64 = 2 * PAYING.len() as i64;

const PLANNED: [&str; 2] = ["runner-11", "runner-12"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_under_load_nothing_happens_twice_and_nobody_is_coached_as_who_they_were() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(THINKS));
    let start = Start::over(&redis, &records, &model).flags(&["--fresh-for", "1"]);
    let world = World::new(Fleet::start(&start));
    let fails = if env::var_os(LONG).is_some() { 60 } else { FAILS };

    let faults = async {
        sleep(Duration::from_secs(2)).await;
        fail(&world, &redis, &start, fails).await;
        world.end();
    };
    let ((), paid, fences) = join!(faults, clients(&world), planners(&world));

    let tally = world.verdict();
    for what in ["asked", "degraded", "changed", "settled", "drawn", "without a model", "without Redis"] {
        assert!(tally.get(what) >= Some(&5), "{what} in {tally:?}");
    }
    are_apart(&fences);
    // Each order is paid twice, so that a payment that is repeated for no reason is seen.
    assert!(paid > 2 * AGAIN_AT_MOST, "{paid} orders: {tally:?}");
    // Whoever was told that it was done may not have been the last.
    assert!(records.count("SELECT count(*) FROM charge").await >= paid, "{tally:?}");
    let again = records.count(AGAIN).await;
    assert!(again <= AGAIN_AT_MOST, "{again} payments were carried out again: {tally:?}");
    assert_eq!(records.count("SELECT count(*) FROM plan").await, PLANNED.len() as i64);
}

/// One after the other, as two at a time excuse more.
async fn fail(world: &World, redis: &Redis, start: &Start<'_>, seconds: u32) {
    let weather = &world.weather;
    let model = async {
        start.model.fail(seconds).await;
        sleep(Duration::from_secs(seconds.into())).await;
    };
    weather.no_model.during(model).await;
    let outage = async {
        redis.kill();
        sleep(Duration::from_secs(1)).await;
        redis.restart();
    };
    weather.no_redis.during(outage).await;
    let loss = async {
        world.fleet.kill();
        sleep(Duration::from_secs(1)).await;
        world.fleet.replace(start);
    };
    weather.loss.during(loss).await;
}

/// Those who ask, change and pay. Returns how many orders were paid.
async fn clients(world: &World) -> i64 {
    let changed = ["runner-1", "runner-2"];
    // Of the third there are old answers, as nobody changes it.
    let asked = changed.into_iter().chain(changed).chain(["runner-3"]);
    let asking = join_all(asked.map(|user| crowd::ask(world, user)));
    let changing = join_all(changed.map(|user| crowd::change(world, user)));
    let paying = join_all(PAYING.map(|user| crowd::pay(world, user)));
    let (_, _, paid) = join!(asking, changing, paying);
    paid.into_iter().sum()
}

/// Those who have plans drawn, two for each user. Returns the fences of each user's plans.
async fn planners(world: &World) -> Vec<Vec<u64>> {
    let of_user = async |user| {
        let (one, two) = join!(crowd::plan(world, user), crowd::plan(world, user));
        [one, two].concat()
    };
    join_all(PLANNED.map(of_user)).await
}

/// No two plans were drawn at once: a fence is the time in µs at which its holder got the lock, and each holds it for as
/// long as the model takes.
fn are_apart(fences: &[Vec<u64>]) {
    for fences in fences {
        let mut fences = fences.clone();
        fences.sort_unstable();
        let closest = fences.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert!(closest >= Some(u64::from(THINKS) * 1_000), "{closest:?} µs in {fences:?}");
    }
}
