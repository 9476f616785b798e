//! Asks a node for its time and for `INFO`, in one round trip.

use std::{fmt, time::Duration};

use super::{ClockDifference, Figures, Server, info};
use crate::{
    clock::time_of_day,
    redis::{ANSWERS, Primary, Redis, Reply, UNKNOWN, words},
};

/// Why a node tells no figures.
#[derive(Debug)]
pub(super) enum Untold {
    /// It does not answer: why.
    Silent(String),
    /// It has answered with an error of this code.
    Refused(String),
}

/// What a node tells of itself.
pub(super) async fn ask(redis: &Redis, node: &Primary) -> Server {
    let told = figures(redis, node).await;
    let trouble = told.as_ref().map_or_else(|untold| Some(untold.to_string()), |_| node.trouble());
    Server { node: node.name().to_owned(), trouble, figures: told.ok(), age: Duration::ZERO }
}

/// The figures of a node.
///
/// # Errors
///
/// Why it tells none.
pub(super) async fn figures(redis: &Redis, node: &Primary) -> Result<Figures, Untold> {
    let clock = redis.clock();
    let (before, here) = (clock.reading(), time_of_day());
    let asked = [words(&["TIME"]), words(&["INFO"])];
    let answers = clock.timeout(ANSWERS, node.look(&asked)).await;
    let round_trip = clock.reading().saturating_sub(before);
    let Some(Ok([time, info])) = answers.as_ref().map(|answers| answers.as_deref()) else {
        return Err(Untold::Silent(node.trouble().unwrap_or_else(|| "it does not answer".to_owned())));
    };
    let text = match info {
        Reply::Error(code) => return Err(Untold::Refused(code.clone())),
        info => info.text().ok_or_else(|| Untold::Silent("what it tells cannot be read".to_owned()))?,
    };
    let mut figures = info::parse(text);
    figures.clock =
        seconds(time).map(|server| ClockDifference::between(server, here + round_trip / 2, round_trip));
    Ok(figures)
}

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(why) => f.write_str(why),
            Self::Refused(code) => write!(f, "{}, so there are no figures", no_info(code)),
        }
    }
}

/// Why there is no `INFO`, by the code of the answer.
pub(super) fn no_info(code: &str) -> String {
    match code {
        "NOPERM" => "the user may not ask for INFO".to_owned(),
        UNKNOWN => "the server has no command INFO".to_owned(),
        code => format!("it answers {code}"),
    }
}

/// The answer to `TIME`, since 1970.
fn seconds(time: &Reply) -> Option<Duration> {
    let Reply::List(parts) = time else { return None };
    let [seconds, micros] = &**parts else { return None };
    let number = |part: &Reply| part.text()?.parse().ok();
    Some(Duration::from_secs(number(seconds)?) + Duration::from_micros(number(micros)?))
}
