//! Asks a node for its time and for `INFO`, in one round trip.

use std::time::Duration;

use super::{ClockDifference, Server, info};
use crate::{
    clock::time_of_day,
    redis::{ANSWERS, Primary, Redis, Reply, words},
};

/// What a node tells of itself.
pub(super) async fn ask(redis: &Redis, node: &Primary) -> Server {
    let (clock, name) = (redis.clock(), node.name().to_owned());
    let (before, here) = (clock.reading(), time_of_day());
    let asked = [words(&["TIME"]), words(&["INFO"])];
    let answers = clock.timeout(ANSWERS, node.look(&asked)).await;
    let round_trip = clock.reading().saturating_sub(before);
    let Some(Ok([time, info])) = answers.as_ref().map(|answers| answers.as_deref()) else {
        let trouble = node.trouble().unwrap_or_else(|| "it does not answer".to_owned());
        return Server { node: name, trouble: Some(trouble), ..Server::default() };
    };
    let Some(text) = info.text() else {
        let trouble = Some("the user may not ask for INFO, so there are no figures".to_owned());
        return Server { node: name, trouble, ..Server::default() };
    };
    let mut figures = info::parse(text);
    figures.clock =
        seconds(time).map(|server| ClockDifference::between(server, here + round_trip / 2, round_trip));
    Server { node: name, trouble: node.trouble(), figures: Some(figures), age: Duration::ZERO }
}

/// The answer to `TIME`, since 1970.
fn seconds(time: &Reply) -> Option<Duration> {
    let Reply::List(parts) = time else { return None };
    let [seconds, micros] = &**parts else { return None };
    let number = |part: &Reply| part.text()?.parse().ok();
    Some(Duration::from_secs(number(seconds)?) + Duration::from_micros(number(micros)?))
}
