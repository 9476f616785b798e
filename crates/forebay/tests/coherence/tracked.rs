//! Memory that is told of every write of a value: what other programs do to keys of ours is heard.

use std::time::Duration;

use forebay::{
    Forebay,
    cache::{Cache, Coherence, Source},
    key::encode,
    testing::Flow,
};
use forebay_rig::Redis;

use crate::{
    gate::Gate,
    rig::{
        CLOCK, LIFE, Origin, Process, Rig, done, eventually, fill, held, lasts, remember, served_at_best,
        served_for, source, value_key,
    },
};

/// Far more than what is pushed needs to come.
const SOON: Duration = Duration::from_millis(400);

fn tracking(process: &Process) -> Cache<String> {
    process.builder().coherence(Coherence::Tracking).build().unwrap()
}

/// The connections that are told of writes.
fn told(redis: &Redis) -> Vec<String> {
    let clients = redis.call(&["CLIENT", "LIST"]);
    let told = clients.lines().filter(|client| client.contains(" flags=tB "));
    told.filter_map(|client| client.strip_prefix("id=")?.split(' ').next().map(str::to_owned)).collect()
}

/// Has `write` done to a key whose value `reader` remembers, and says how long that is served.
async fn served_after(rig: &Rig, reader: &Cache<String>, write: &[&str]) -> Duration {
    remember(reader, "a", "old").await;
    let written = rig.redis.call(write);
    assert!(!written.starts_with('-'), "{write:?}: {written}");
    served_for(reader, "a", "old", CLOCK.now()).await
}

#[tokio::test]
async fn what_another_program_does_to_a_key_is_noticed_at_once() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let (reader, key) = (tracking(&here), value_key("a"));
    fill(&reader, "other", "new").await;
    let writes = [
        vec!["DEL", &key],
        vec!["PEXPIRE", &key, "1"],
        vec!["SET", &key, "not ours", "PX", "60000"],
        vec!["COPY", "cache:rig:case:v1:{other}", &key, "REPLACE"],
    ];
    for write in writes {
        let took = served_after(&rig, &reader, &write).await;
        println!("{}: served for {took:?}", write[0]);
        assert!(took < SOON, "{write:?}: {took:?}");
        rig.redis.call(&["DEL", "lease:rig:case:v1:{a}"]);
        if write[0] == "COPY" {
            assert_eq!(held(&reader, "a").await.as_deref(), Some("new"));
        }
        rig.redis.call(&["DEL", &key]);
    }
}

#[tokio::test]
async fn an_id_that_its_key_spells_otherwise_is_found() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let reader = tracking(&here);
    for id in ["a {b}%", "", &"long".repeat(100)] {
        remember(&reader, id, "old").await;
        assert_eq!(rig.redis.call(&["DEL", &value_key(&encode(id))]), "1");
        assert!(served_for(&reader, id, "old", CLOCK.now()).await < SOON, "{id:?}");
    }
}

#[tokio::test]
async fn a_key_that_ends_by_itself_is_noticed() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let (reader, key) = (tracking(&here), value_key("a"));
    remember(&reader, "a", "old").await;
    // With so much left, memory would have it for longer.
    rig.redis.call(&["PEXPIRE", &key, "1500"]);
    eventually_from(&reader, "a", Source::Memory).await;
    let took = served_for(&reader, "a", "old", CLOCK.now()).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// Reads `id` until it comes from there.
async fn eventually_from(reader: &Cache<String>, id: &str, from: Source) {
    done(async {
        while source(reader, id).await != Some(from) {
            CLOCK.sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_read_under_way_does_not_put_back_what_was_written_over() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), tracking(&there));
    eventually(|| there.status().tracks == Some(true)).await;
    for round in 0..20 {
        let id = round.to_string();
        fill(&writer, &id, "old").await;
        let reads = rig.redis.calls("get");
        there.proxy.replies(Flow::Hold);
        let reading = tokio::spawn({
            let (reader, id) = (reader.clone(), id.clone());
            async move { held(&reader, &id).await }
        });
        eventually(|| rig.redis.calls("get") > reads).await;
        rig.redis.call(&["DEL", &value_key(&id)]);
        there.proxy.replies(Flow::Pass);
        assert_eq!(done(reading).await.unwrap().as_deref(), Some("old"));
        let took = served_for(&reader, &id, "old", CLOCK.now()).await;
        assert!(took < SOON, "{took:?}");
    }
}

#[tokio::test]
async fn a_load_goes_on_for_all_who_wait_and_is_stored_whatever_is_written_meanwhile() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let (reader, origin) = (tracking(&here), Origin::taking(300));
    eventually(|| here.status().tracks == Some(true)).await;
    let first = origin.call(&reader, "a", Ok("A"));
    eventually(|| origin.calls() == 1).await;
    rig.redis.call(&["SET", &value_key("a"), "not ours", "PX", "60000"]);
    let second = origin.call(&reader, "a", Ok("B"));
    for caller in [first, second] {
        assert_eq!(*done(caller).await.unwrap().unwrap(), "A");
    }
    eventually_from(&reader, "a", Source::Memory).await;
    assert_eq!((origin.calls(), held(&reader, "a").await.as_deref()), (1, Some("A")));
}

#[tokio::test]
async fn a_flush_makes_all_of_memory_suspect() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let reader = tracking(&here);
    let took = served_after(&rig, &reader, &["FLUSHALL"]).await;
    assert!(took < SOON, "{took:?}");
}

// C36: Redisson's memory was told nothing any more once its connections were replaced. C40: what is read before tracking
// is on again is not kept.
#[tokio::test]
async fn a_data_connection_that_is_lost_makes_memory_suspect_until_writes_are_told_of_again() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let reader = tracking(&here);
    for round in 0..10 {
        remember(&reader, "a", "old").await;
        remember(&reader, "b", "B").await;
        lose_the_told(&rig);
        // Nothing of ours is lost but that connection, which reads again at once.
        let first = done(async {
            loop {
                match source(&reader, "a").await {
                    Some(Source::Memory) => CLOCK.sleep(Duration::from_millis(1)).await,
                    first => return first,
                }
            }
        });
        let first = first.await;
        assert!(matches!(first, None | Some(Source::Store)), "round {round}: {first:?}");
        eventually(|| here.status().tracks == Some(true)).await;
        assert_eq!(source(&reader, "b").await, Some(Source::Store), "round {round}");
        let took = served_after(&rig, &reader, &["DEL", &value_key("a")]).await;
        assert!(took < SOON, "round {round}: {took:?}");
    }
}

// C40: whoever reads while the connection is replaced, and whatever is written in that moment.
#[tokio::test]
async fn reads_that_queue_for_a_new_connection_leave_nothing_old_behind() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let reader = tracking(&here);
    let mut measured = Vec::new();
    for round in 0..30_u64 {
        let (old, new) = (format!("old {round}"), format!("new {round}"));
        let (id, other) = (round.to_string(), format!("other-{round}"));
        fill(&reader, &other, &new).await;
        remember(&reader, &id, &old).await;
        let readers = std::iter::repeat_with(|| {
            let (reader, id) = (reader.clone(), id.clone());
            tokio::spawn(async move {
                loop {
                    held(&reader, &id).await;
                    tokio::task::yield_now().await;
                }
            })
        });
        let readers: Vec<_> = readers.take(10).collect();
        lose_the_told(&rig);
        CLOCK.sleep(Duration::from_micros(100 * round)).await;
        rig.redis.call(&["COPY", &value_key(&other), &value_key(&id), "REPLACE"]);
        measured.push(served_for(&reader, &id, &old, CLOCK.now()).await);
        assert_eq!(held(&reader, &id).await, Some(new));
        readers.iter().for_each(tokio::task::JoinHandle::abort);
        eventually(|| here.status().tracks == Some(true)).await;
    }
    let slowest = measured.iter().max();
    println!("connection lost while it is written: served for {slowest:?} at most");
    assert!(slowest < Some(&SOON), "{measured:?}");
}

#[tokio::test]
async fn a_subscription_that_is_lost_makes_memory_suspect_as_without_tracking() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let reader = tracking(&here);
    let accepted = here.proxy.accepted();
    remember(&reader, "a", "old").await;
    let ours = told(&rig.redis);
    rig.kill_subscriptions();
    eventually(|| here.proxy.accepted() > accepted).await;
    assert_eq!(source(&reader, "a").await, Some(Source::Store));
    assert_eq!(told(&rig.redis), ours);
    let took = served_after(&rig, &reader, &["DEL", &value_key("a")]).await;
    assert!(took < SOON, "{took:?}");
}

/// A process behind `gate`, that remembers `a`. Large values come over a connection of their own, past what is held up.
async fn behind(rig: &Rig, gate: &Gate) -> (Process, Cache<String>) {
    let url = gate.url.clone();
    let here = rig.open_with(|builder| builder.redis(url)).await;
    let reader = here.builder().coherence(Coherence::Tracking).compress_above(usize::MAX).build().unwrap();
    remember(&reader, "a", &"v".repeat(100_000)).await;
    (here, reader)
}

/// Kills the connection that is told of writes, and says which one it was.
fn lose_the_told(rig: &Rig) -> String {
    let [ours] = &*told(&rig.redis) else { panic!("one connection is told of writes") };
    rig.redis.call(&["CLIENT", "KILL", "ID", ours]);
    ours.clone()
}

// C40, while there is no connection yet that could be told.
#[tokio::test]
async fn memory_is_suspect_from_the_moment_at_which_writes_are_told_no_more() {
    let rig = Rig::new();
    let gate = Gate::before(rig.redis.port()).await;
    let (here, reader) = behind(&rig, &gate).await;
    let is_connected = || here.status().reason.as_deref() == Some("it is being connected");
    loop {
        gate.hold_connections();
        lose_the_told(&rig);
        eventually(is_connected).await;
        let sources = [source(&reader, "a").await, source(&reader, "a").await];
        // After half a second Redis counts as gone, and what is suspect as better than nothing.
        let in_time = is_connected();
        gate.open();
        eventually(|| here.status().tracks == Some(true) && here.status().usable).await;
        if in_time {
            assert_eq!(sources, [Some(Source::Store); 2]);
            return;
        }
        eventually_from(&reader, "a", Source::Memory).await;
    }
}

// C40: lettuce replays reads on a new connection before it is tracked again, and they are cached.
#[tokio::test]
async fn nothing_that_is_read_before_tracking_is_on_is_kept() {
    let rig = Rig::new();
    let gate = Gate::before(rig.redis.port()).await;
    let (here, reader) = behind(&rig, &gate).await;
    gate.hold_answers();
    let lost = lose_the_told(&rig);
    eventually(|| here.status().tracks == Some(false)).await;
    eventually(|| told(&rig.redis).iter().any(|told| *told != lost)).await;
    for _ in 0..3 {
        assert_eq!(source(&reader, "a").await, Some(Source::Store));
    }
    assert_eq!(here.status().tracks, Some(false));
    gate.open();
    eventually(|| here.status().tracks == Some(true)).await;
    eventually_from(&reader, "a", Source::Memory).await;
}

// No RST tells of a hole.
#[tokio::test]
async fn a_connection_that_brings_nothing_more_is_found_out() {
    let rig = Rig::new();
    let gate = Gate::before(rig.redis.port()).await;
    let (here, reader) = behind(&rig, &gate).await;
    gate.hold_answers();
    rig.redis.call(&["DEL", &value_key("a")]);
    let took = lasts(CLOCK.now(), async || here.status().tracks == Some(true)).await;
    println!("a hole is found after {took:?}");
    assert!(took <= here.status().staleness_bound + Duration::from_millis(100), "{took:?}");
    gate.open();
    eventually(|| here.status().tracks == Some(true)).await;
    assert_eq!(held(&reader, "a").await, None);
}

#[tokio::test]
async fn where_tracking_is_refused_the_bus_is_heard_and_the_status_says_so() {
    let rig = Rig::new();
    assert_eq!(rig.redis.call(&["ACL", "SETUSER", "default", "-client|tracking"]), "OK");
    let [here, there] = rig.open().await;
    assert_eq!(there.status().tracks, None);
    let (writer, reader) = (here.cache(), tracking(&there));
    let took = served_at_best(&writer, &reader).await;
    assert!(took < SOON, "{took:?}");
    assert_eq!((told(&rig.redis), there.status().tracks), (vec![], Some(false)));
    assert!(there.status().usable);
}

#[tokio::test]
async fn several_spaces_are_told_by_one_connection_and_those_that_do_not_want_it_mind_nothing() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let bus = here.cache();
    remember(&bus, "a", "A").await;
    let space =
        |name| here.forebay.cache::<String>(name, LIFE).coherence(Coherence::Tracking).build().unwrap();
    let spaces = ["one", "other"].map(space);
    for space in &spaces {
        remember(space, "a", "A").await;
    }
    assert_eq!(told(&rig.redis).len(), 1);
    rig.redis.call(&["DEL", "cache:rig:one:v1:{a}", &value_key("a")]);
    assert!(served_for(&spaces[0], "a", "A", CLOCK.now()).await < SOON);
    assert_eq!(source(&spaces[1], "a").await, Some(Source::Memory));
    assert_eq!(source(&bus, "a").await, Some(Source::Memory));
}

// C41: one set makes all of FusionCache's nodes read at once. Here only those read whose callers do, each once.
#[tokio::test]
async fn a_hot_value_that_is_set_ten_times_a_second_is_read_by_those_who_need_it_once_a_set() {
    const SETS: u64 = 10;
    const READERS: usize = 10;
    let rig = Rig::new();
    let mut forebays = Vec::new();
    for _ in 0..50 {
        let open = Forebay::builder("rig").redis(rig.redis.url()).redis_budget(Duration::from_secs(1));
        forebays.push(open.build().await.unwrap());
    }
    let space = |forebay: &Forebay| {
        let builder = forebay.cache::<String>("case", LIFE).jitter(0.0).compress_above(usize::MAX);
        builder.coherence(Coherence::Tracking).build().unwrap()
    };
    let caches: Vec<_> = forebays.iter().map(space).collect();
    let value = "v".repeat(1_000_000);
    fill(&caches[0], "other", &value).await;
    fill(&caches[0], "a", &value).await;
    for cache in &caches {
        eventually_from(cache, "a", Source::Memory).await;
    }
    let (before, key) = (rig.redis.calls("get"), value_key("a"));
    for _ in 0..SETS {
        assert_eq!(rig.redis.call(&["COPY", "cache:rig:case:v1:{other}", &key, "REPLACE"]), "1");
        let until = CLOCK.now().after(Duration::from_millis(100));
        while CLOCK.now() < until {
            for cache in &caches[..READERS] {
                assert_eq!(held(cache, "a").await.map(|value| value.len()), Some(value.len()));
            }
            CLOCK.sleep(Duration::from_millis(5)).await;
        }
    }
    let reads = rig.redis.calls("get") - before;
    println!("50 processes, {READERS} of them with callers, {SETS} sets: {reads} reads of 1 MB");
    assert!(reads <= SETS * READERS as u64, "{reads}");
    assert!(reads >= SETS * READERS as u64 / 2, "{reads}: hardly a set was noticed");
}
