//! A million values of one tag, after a long soak: invalidated in the time that a thousand take, and none of them is read
//! again.

use std::time::Duration;

use forebay::{
    Forebay,
    cache::{Cache, Invalidated, Loaded, Put},
    status::Status,
};
use forebay_rig::Redis;
use forebay_trials::moment::Moment;

use crate::pause;

const FEW: u32 = 1_000;
const MANY: u32 = 1_000_000;

/// How many values are stored together.
const TOGETHER: usize = 1_000;

/// One of so many values is read.
const SAMPLE: usize = 997;

/// How often each invalidation is timed.
const TIMES: usize = 21;

/// What constant time may differ by on a machine that is busy.
const SLACK: (u32, Duration) = (5, Duration::from_millis(2));

/// Lives for as long as this takes.
const LIFE: Duration = Duration::from_secs(3600);

/// Returns what was wrong.
pub(crate) async fn play() -> Vec<String> {
    let redis = Redis::start();
    let building = Forebay::builder("soak").redis(redis.url()).redis_budget(Duration::from_secs(1)).build();
    let forebay = building.await.expect("the rig's URL is valid");
    while !matches!(forebay.status(), Status::Redis(status) if status.usable && status.hears) {
        pause(Duration::from_millis(10)).await;
    }
    let (few, many) = (filled(&forebay, FEW).await, filled(&forebay, MANY).await);
    let mut wrong = Vec::new();
    for by_tag in [true, false] {
        let what = if by_tag { "a tag" } else { "a space" };
        store(&many, (0..MANY).step_by(SAMPLE)).await;
        let (short, long) = (time(&few, by_tag).await, time(&many, by_tag).await);
        let figures =
            format!("{what} of {FEW} values is invalidated in {short:?}, one of {MANY} in {long:?}");
        println!("{figures}");
        wrong.extend((long > short * SLACK.0 + SLACK.1).then_some(figures));
        for id in (0..MANY).step_by(SAMPLE) {
            let read = many.get(id.to_string()).await;
            wrong.extend(read.map(|_| format!("{id} is read after {what} was invalidated")));
        }
    }
    wrong.extend(redis.keys_without_expiry().into_iter().map(|key| format!("{key} has no expiry")));
    forebay.shutdown(Duration::from_secs(1)).await;
    wrong
}

async fn filled(forebay: &Forebay, count: u32) -> Cache<u32> {
    let cache = forebay.cache(&format!("of-{count}"), LIFE).build().expect("the options fit");
    store(&cache, 0..count).await;
    cache
}

/// Tries again where the machine stands still for longer than a put may take.
async fn store(cache: &Cache<u32>, ids: impl Iterator<Item = u32>) {
    let ids: Vec<_> = ids.collect();
    for some in ids.chunks(TOGETHER) {
        loop {
            let entries = some.iter().map(|id| (id.to_string(), Loaded::new(*id).tag("all")));
            if cache.put_many(entries).await.iter().all(|put| matches!(put, Ok(Put::Stored))) {
                break;
            }
        }
    }
}

/// The median time in which all values are invalidated.
async fn time(cache: &Cache<u32>, by_tag: bool) -> Duration {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let began = Moment::now();
        let done = if by_tag { cache.invalidate_tag("all").await } else { cache.clear().await };
        times.push(Moment::now().since(began));
        assert_eq!(done, Invalidated::Everywhere);
    }
    times.sort_unstable();
    times[TIMES / 2]
}
