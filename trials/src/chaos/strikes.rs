//! Has everything go wrong that is planned, and takes note of who feels it for how long.

use std::{thread, time::Duration};

use forebay::testing::{Flow, Proxy};
use forebay_rig::{Redis, ServerClock};
use futures::future::join_all;
use tokio::time::sleep;

use super::{
    arena::{Arena, Seat},
    cluster,
    fault::Fault,
    ground::Ground,
    history::{self, Span, Window},
    plan::{Plan, Strike},
};
use crate::moment::Moment;

/// By how much clocks are set wrong.
const QUARTER: Duration = Duration::from_mins(15);

const LONGEST_DELAY_MS: u64 = 40;

/// Long enough for some answers.
const ANSWERS: Duration = Duration::from_millis(200);
const GAP: Duration = Duration::from_millis(100);

/// What the messages have in them that are lost: changes, and the beat of a process.
const MESSAGES: [&str; 3] = [" gone ", " aged ", " beat "];

/// For so long something goes wrong, then nothing for a while: what is in memory would not get old otherwise.
const STORM: Duration = Duration::from_secs(6);
const CALM: Duration = Duration::from_secs(4);

/// Strikes until it is over and every kind has happened, and mends.
pub(super) async fn play(arena: &Arena) {
    let site = arena.site();
    let seats =
        arena.seats.iter().map(|seat| befall(arena, seat, Plan::of_seat(arena.seed, site, seat.number)));
    tokio::join!(join_all(seats), befall_servers(arena, Plan::of_servers(arena.seed, site)));
}

async fn befall(arena: &Arena, seat: &Seat, mut plan: Plan) {
    let mut due = plan.first_round();
    while due > 0 || !arena.is_over() {
        let strike = plan.next();
        sleep(strike.pause).await;
        storm(arena).await;
        let began = Moment::now();
        strike_process(arena, seat, &strike).await;
        note(arena, &strike, Some(seat), None, began).await;
        due = due.saturating_sub(1);
    }
}

async fn befall_servers(arena: &Arena, mut plan: Plan) {
    let mut due = plan.first_round();
    while due > 0 || !arena.is_over() {
        let strike = plan.next();
        sleep(strike.pause).await;
        storm(arena).await;
        arena.look_for_keys().await;
        let began = Moment::now();
        let ids = arena.apart(move |ground| strike_servers(ground, &strike)).await;
        note(arena, &strike, None, ids, began).await;
        due = due.saturating_sub(1);
    }
}

/// Waits for the next storm, unless there is one.
async fn storm(arena: &Arena) {
    let (passed, weather) = (Moment::now().since(arena.began), STORM + CALM);
    let storms = u32::try_from(passed.as_nanos() / weather.as_nanos()).unwrap_or(u32::MAX);
    let since = passed.saturating_sub(weather * storms);
    if since >= STORM {
        sleep(weather.saturating_sub(since)).await;
    }
}

/// Takes note of a fault that was mended a moment ago, and of who feels it until when.
async fn note(
    arena: &Arena,
    &Strike { fault, .. }: &Strike,
    seat: Option<&Seat>,
    ids: Option<Vec<String>>,
    began: Moment,
) {
    let mended = Moment::now();
    let span = Span { began, ended: mended };
    arena.history().strikes.push(history::Strike { fault, seat: seat.map(|seat| seat.number), span });
    let befallen = arena.seats.iter().filter(|other| seat.is_none_or(|seat| seat.number == other.number));
    let windows = join_all(befallen.map(async |seat| {
        let ended = arena.is_well(seat).await;
        Window { fault, seat: seat.number, ids: ids.clone(), span: Span { began, ended }, mended }
    }));
    let windows = windows.await;
    arena.history().windows.extend(windows);
}

async fn strike_process(arena: &Arena, seat: &Seat, strike: &Strike) {
    match (strike.fault, &seat.proxy) {
        (Fault::Stop, _) => {
            let (_, worker) = seat.worker();
            worker.stop();
            sleep(strike.length).await;
            worker.go_on();
        }
        (Fault::Kill, _) => arena.replace(seat).await,
        (Fault::Skew, _) if strike.roll.is_multiple_of(2) => seat.clock.advance(QUARTER),
        (Fault::Skew, _) => seat.clock.step_back(QUARTER),
        (fault, Some(proxy)) => strike_network(proxy, fault, strike).await,
        (fault, None) => unreachable!("a process without a network of its own is befallen by {fault:?}"),
    }
}

async fn strike_network(proxy: &Proxy, fault: Fault, strike: &Strike) {
    match fault {
        Fault::HoldRequests => proxy.requests(Flow::Hold),
        Fault::HoldReplies => proxy.replies(Flow::Hold),
        Fault::Hole => {
            proxy.requests(Flow::Hold);
            proxy.replies(Flow::Hold);
        }
        Fault::Delay => {
            let delay = Flow::Delay(Duration::from_millis(strike.roll % LONGEST_DELAY_MS + 1));
            proxy.requests(delay);
            proxy.replies(delay);
        }
        Fault::LoseMessages => {
            let which = usize::try_from(strike.roll % 3).expect("it is below three");
            proxy.drop_replies(1 + strike.roll / 3 % 3, MESSAGES[which]);
        }
        Fault::LoseReplies => return lose_replies(proxy, strike.length.min(ANSWERS)).await,
        Fault::Cut => return proxy.cut(),
        other => unreachable!("{other:?} befalls no network"),
    }
    sleep(strike.length).await;
    proxy.requests(Flow::Pass);
    proxy.replies(Flow::Pass);
}

/// Half an answer is no answer, but its script has run.
async fn lose_replies(proxy: &Proxy, length: Duration) {
    proxy.refuse();
    proxy.replies(Flow::Discard);
    sleep(length).await;
    proxy.cut();
    sleep(GAP).await;
    proxy.replies(Flow::Pass);
    proxy.accept();
}

/// Does it, and names the only ids that it hides, if not all.
fn strike_servers(ground: &Ground, strike: &Strike) -> Option<Vec<String>> {
    match ground {
        Ground::One(redis, clock) => {
            strike_server(redis, clock, strike);
            None
        }
        Ground::Cluster(cluster) => cluster::strike(cluster, strike),
    }
}

fn strike_server(redis: &Redis, clock: &ServerClock, strike: &Strike) {
    match strike.fault {
        Fault::Freeze => freeze(redis, strike.length),
        Fault::Restart => {
            redis.kill();
            thread::sleep(strike.length);
            redis.restart();
        }
        Fault::Ahead => clock.advance(QUARTER),
        Fault::Back => clock.step_back(QUARTER),
        fault => tell([redis], fault),
    }
}

pub(super) fn freeze(node: &Redis, length: Duration) {
    node.pause();
    thread::sleep(length);
    node.resume();
}

/// Has the nodes do what takes one command.
pub(super) fn tell<'a>(nodes: impl IntoIterator<Item = &'a Redis>, fault: Fault) {
    let command: &[&str] = match fault {
        Fault::Deafen => &["CLIENT", "KILL", "TYPE", "pubsub"],
        Fault::Disconnect => &["CLIENT", "KILL", "TYPE", "normal"],
        Fault::Flush => &["FLUSHALL"],
        Fault::ForgetScripts => &["SCRIPT", "FLUSH"],
        other => unreachable!("{other:?} is no command"),
    };
    for node in nodes {
        node.call(command);
    }
}
