//! Who calls while things fail, and what each of them looks at.

use std::time::Duration;

use tokio::time::sleep;

use crate::{answer::Answer, program::Coach, world::World};

/// Between two calls of one client.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks for one user, who must not be coached as who they were.
pub(crate) async fn ask(world: &World, user: &str) {
    for n in 0.. {
        if world.is_over() {
            break;
        }
        let (question, floor) = (format!("What about {}?", n % 4), world.floor(user));
        let excuses = [&world.weather.no_model];
        let answer =
            world.call("asked", &[200], &excuses, async |coach| coach.try_ask(user, &question).await);
        if let Some(answer) = answer.await {
            if answer.body["degraded"] == true {
                world.count("degraded");
            }
            if coached_as(&answer) < floor {
                world.blame(format!("{user} had {floor} for longer than the bound: {answer:?}"));
            }
        }
        sleep(PAUSE).await;
    }
}

/// Changes the profile of a user again and again, to a larger one each time.
pub(crate) async fn change(world: &World, user: &str) {
    for n in 4_100_u32.. {
        if world.is_over() {
            break;
        }
        let vo2max = f64::from(n) / 100.0;
        let changed = world.call("changed", &[200], &[], async |coach| coach.try_profile(user, vo2max).await);
        if changed.await.is_some_and(|changed| changed.body["everywhere"] == true) {
            world.settle(user, vo2max);
            world.count("settled");
        }
        sleep(10 * PAUSE).await;
    }
}

/// Has plans drawn for a user, and returns the fences under which they were.
pub(crate) async fn plan(world: &World, user: &str) -> Vec<u64> {
    let mut fences = Vec::new();
    while !world.is_over() {
        let excuses = [&world.weather.no_model, &world.weather.no_redis];
        // A 409 is somebody whose fence is the smaller one.
        let drawn =
            world.call("planned", &[201, 409, 429], &excuses, async |coach| coach.try_plan(user).await);
        let drawn = drawn.await.filter(|drawn| drawn.status == 201);
        fences.extend(drawn.iter().map(|drawn| drawn.body["fence"].as_u64().unwrap()));
        if drawn.is_some() {
            world.count("drawn");
        }
        sleep(PAUSE).await;
    }
    fences
}

/// Pays one order after the other, each until that is known, and once more. Returns how many were paid.
pub(crate) async fn pay(world: &World, user: &str) -> i64 {
    let mut paid = 0;
    for n in 0.. {
        if world.is_over() {
            break;
        }
        let order = format!("{n}");
        if let Some(first) = insist(world, user, &order).await {
            paid += 1;
            let again = insist(world, user, &order).await;
            if again.as_ref().is_some_and(|again| again.body != first.body) {
                world.blame(format!("{user} was charged twice for {order}: {first:?}, {again:?}"));
            }
        }
        sleep(PAUSE).await;
    }
    paid
}

/// Sends a payment until it is done.
async fn insist(world: &World, user: &str, order: &str) -> Option<Answer> {
    while !world.is_over() {
        let excuses = [&world.weather.no_redis];
        let pay = async |coach: &Coach| coach.try_pay(user, order, order, 1200).await;
        match world.call("paid", &[201, 409], &excuses, pay).await {
            Some(done) if done.status == 201 => return Some(done),
            _ => sleep(5 * PAUSE).await,
        }
    }
    None
}

fn coached_as(answer: &Answer) -> f64 {
    let (_, told) = answer.text("answer").split_once("VO2max of ").unwrap();
    told.split_once(' ').unwrap().0.parse().unwrap()
}
