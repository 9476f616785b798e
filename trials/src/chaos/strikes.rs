//! Has everything go wrong that is planned, and takes note of who feels it for how long.

use std::{future::ready, thread, time::Duration};

use forebay::testing::Flow;
use forebay_rig::{Redis, ServerClock};
use futures::future::join_all;
use tokio::time::sleep;

use super::{
    FORGETFUL,
    arena::{Arena, Seat},
    cluster,
    fault::{Fault, Site, Weather},
    ground::Ground,
    history::{self, Span, Window},
    plan::{Plan, Strike},
    scenes::{self, Withheld},
    sentinels,
    way::Way,
};
use crate::moment::Moment;

/// By how much clocks are set wrong.
const QUARTER: Duration = Duration::from_mins(15);

const LONGEST_DELAY_MS: u64 = 40;

/// By then a process has noticed that its connections are gone: one that is asked before says that all is well, and the
/// next call finds that it is not.
const NOTICED: Duration = Duration::from_millis(50);

/// Long enough for some answers.
const ANSWERS: Duration = Duration::from_millis(200);
const GAP: Duration = Duration::from_millis(100);

/// What the messages have in them that tell of changes, and those that tell that a process lives.
const CHANGES: [&str; 2] = [" gone ", " aged "];
const BEAT: &str = " beat ";

/// How many of them in a row are lost, at most.
const MOST_CHANGES: u64 = 60;
const MOST_BEATS: u64 = 3;

/// For so long something goes wrong, then nothing for a while: what is in memory would not get old otherwise.
const STORM: Duration = Duration::from_secs(6);
const CALM: Duration = Duration::from_secs(6);

/// How soon in a calm what nobody is to feel is done, so that it shows before the next storm.
const SOON: Duration = Duration::from_millis(500);

/// Strikes until it is over and every kind has happened, and mends.
pub(super) async fn play(arena: &Arena) {
    let site = arena.site();
    let of = |seat: &Seat, weather| Plan::of_seat(arena.seed, site, seat.number, weather);
    let storms = arena.seats.iter().map(|seat| befall(arena, seat, of(seat, Weather::Storm)));
    let calms = arena.seats.iter().map(|seat| befall_quietly(arena, seat, of(seat, Weather::Calm)));
    tokio::join!(
        join_all(storms),
        join_all(calms),
        befall_hearers(arena),
        befall_servers(arena, Plan::of_servers(arena.seed, site))
    );
}

async fn befall(arena: &Arena, seat: &Seat, mut plan: Plan) {
    let mut due = plan.first_round();
    while due > 0 || !arena.is_over() {
        let strike = plan.next();
        sleep(strike.pause).await;
        storm(arena).await;
        strike_seat(arena, seat, &strike).await;
        due = due.saturating_sub(1);
    }
}

/// One fault in each calm.
async fn befall_quietly(arena: &Arena, seat: &Seat, mut plan: Plan) {
    let mut due = plan.first_round();
    while due > 0 || !arena.is_over() {
        sleep(until_calm(arena) + SOON).await;
        strike_seat(arena, seat, &plan.next()).await;
        due = due.saturating_sub(1);
    }
}

async fn befall_servers(arena: &Arena, mut plan: Plan) {
    let mut due = plan.first_round();
    while due > 0 || !arena.is_over() {
        let strike = plan.next();
        sleep(strike.pause).await;
        arena.apart(Ground::settle).await;
        storm(arena).await;
        arena.look_for_keys().await;
        match (strike.fault, arena.site()) {
            (Fault::KillPrimary, Site::Sentinels) => {
                // In a storm hardly any of its changes would be confirmed.
                sleep(until_calm(arena) + SOON).await;
                let withheld = Withheld::begin(arena).await;
                befall_all(arena, &strike, withheld.change()).await;
                withheld.look().await;
            }
            _ => befall_all(arena, &strike, ready(())).await,
        }
        due = due.saturating_sub(1);
    }
}

/// Strikes the servers, once something has been done to make it worse.
async fn befall_all(arena: &Arena, &strike: &Strike, before: impl Future<Output = ()>) {
    let began = Moment::now();
    before.await;
    let ids = arena.apart(move |ground| strike_servers(ground, &strike)).await;
    note(arena, &strike, None, ids, began).await;
}

/// In each calm another process is not told of some changes.
async fn befall_hearers(arena: &Arena) {
    let (hearers, mut turn) = (&arena.seats[..FORGETFUL], 0);
    while !arena.is_over() && !arena.seats[0].way.is_straight() {
        sleep(until_calm(arena) + SOON).await;
        let [hearer, teller] = [turn, turn + 1].map(|turn| &hearers[turn % hearers.len()]);
        let began = Moment::now();
        scenes::lose_messages(arena, hearer, teller).await;
        let span = Span { began, ended: Moment::now() };
        let strike = history::Strike { fault: Fault::LoseMessages, seat: Some(hearer.number), span };
        arena.history().strikes.push(strike);
        turn += 1;
    }
}

async fn strike_seat(arena: &Arena, seat: &Seat, strike: &Strike) {
    let began = Moment::now();
    strike_process(arena, seat, strike).await;
    note(arena, strike, Some(seat), None, began).await;
}

/// Waits for the next storm, unless there is one.
async fn storm(arena: &Arena) {
    let since = since_storm(arena);
    if since >= STORM {
        sleep((STORM + CALM).saturating_sub(since)).await;
    }
}

/// How long it takes until a calm begins.
fn until_calm(arena: &Arena) -> Duration {
    let since = since_storm(arena);
    if since < STORM { STORM - since } else { STORM + CALM + STORM - since }
}

/// How long ago the last storm began.
fn since_storm(arena: &Arena) -> Duration {
    let (passed, both) = (Moment::now().since(arena.began), STORM + CALM);
    let storms = u32::try_from(passed.as_nanos() / both.as_nanos()).unwrap_or(u32::MAX);
    passed.saturating_sub(both * storms)
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
    // Who says that all is well may not have noticed yet.
    sleep(NOTICED).await;
    let windows = join_all(befallen.map(async |seat| {
        let ended = arena.is_well(seat).await;
        Window { fault, seat: seat.number, ids: ids.clone(), span: Span { began, ended }, mended }
    }));
    let windows = windows.await;
    arena.history().windows.extend(windows);
}

async fn strike_process(arena: &Arena, seat: &Seat, strike: &Strike) {
    match strike.fault {
        Fault::Stop => {
            let (_, worker) = seat.worker();
            worker.stop();
            sleep(strike.length).await;
            worker.go_on();
        }
        Fault::Kill => arena.replace(seat).await,
        Fault::Skew if strike.roll.is_multiple_of(2) => seat.clock.advance(QUARTER),
        Fault::Skew => seat.clock.step_back(QUARTER),
        fault => strike_network(&seat.way, fault, strike).await,
    }
}

async fn strike_network(way: &Way, fault: Fault, strike: &Strike) {
    match fault {
        Fault::HoldRequests => way.requests(Flow::Hold),
        Fault::HoldReplies => way.replies(Flow::Hold),
        Fault::Hole => {
            way.requests(Flow::Hold);
            way.replies(Flow::Hold);
        }
        Fault::Delay => {
            let delay = Flow::Delay(Duration::from_millis(strike.roll % LONGEST_DELAY_MS + 1));
            way.requests(delay);
            way.replies(delay);
        }
        Fault::LoseMessages => return lose_changes(way, 1 + strike.roll % MOST_CHANGES),
        Fault::LoseBeats => return way.drop_replies(1 + strike.roll % MOST_BEATS, BEAT),
        Fault::LoseReplies => return lose_replies(way, strike.length.min(ANSWERS)).await,
        Fault::Cut => return way.cut(),
        other => unreachable!("{other:?} befalls no network"),
    }
    sleep(strike.length).await;
    way.requests(Flow::Pass);
    way.replies(Flow::Pass);
}

fn lose_changes(way: &Way, count: u64) {
    for change in CHANGES {
        way.drop_replies(count, change);
    }
}

/// Half an answer is no answer, but its script has run.
async fn lose_replies(way: &Way, length: Duration) {
    way.refuse();
    way.replies(Flow::Discard);
    sleep(length).await;
    way.cut();
    sleep(GAP).await;
    way.replies(Flow::Pass);
    way.accept();
}

/// Does it, and names the only ids that it hides, if not all.
fn strike_servers(ground: &Ground, strike: &Strike) -> Option<Vec<String>> {
    match ground {
        Ground::One(redis, clock) => {
            strike_server(redis, clock, strike);
            None
        }
        Ground::Cluster(cluster) => cluster::strike(cluster, strike),
        Ground::Sentinels(servers) => {
            sentinels::strike(servers, strike);
            None
        }
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
