//! Many callers in several processes: one load, one refresh, and few commands while they wait.

use std::time::Duration;

use forebay::cache::{Filled, Lease, Lookup, Refresh, Returned};
use futures::future::join_all;

use crate::rig::{CLOCK, LIFE, Origin, Process, Rig, done, eventually, fill, held};

/// All that processes send while `wait` passes, without what they say and ask when nobody wants anything.
async fn scripts_during(rig: &Rig, wait: Duration) -> u64 {
    let before = rig.redis.script_calls() + rig.redis.calls("get");
    CLOCK.sleep(wait).await;
    rig.redis.script_calls() + rig.redis.calls("get") - before
}

// Q11: aiocache, 4 processes of 20 callers: 61 loads. Q12: cashews, the same load: 17 000 commands in a second.
#[tokio::test]
async fn eighty_callers_in_four_processes_make_one_load_and_few_commands() {
    let rig = Rig::new();
    let processes = rig.open::<4>().await;
    let origin = Origin::taking(1_000);
    let caches: Vec<_> = processes.iter().map(Process::cache).collect();
    let (before, began) = (rig.redis.script_calls() + rig.redis.calls("get"), CLOCK.now());
    let callers: Vec<_> =
        caches.iter().cycle().take(80).map(|cache| origin.call(cache, "a", Ok("A"))).collect();
    for caller in callers {
        assert_eq!(*done(caller).await.unwrap().unwrap(), "A");
    }
    let commands = rig.redis.script_calls() + rig.redis.calls("get") - before;
    println!("80 callers, 4 processes, 1 s: {} load, {commands} reads and scripts", origin.calls());
    assert_eq!(origin.calls(), 1);
    // Per process a read, two requests, the number of the space, and checks after 50 ms, 300 ms and then twice a
    // second; a fill.
    let seconds = CLOCK.now().since(began).as_secs() + 1;
    assert!(commands <= 4 * (6 + 2 * seconds) + 1, "{commands}");
}

// C32: each of cashews' waiters kept a connection of the pool, or polled.
#[tokio::test]
async fn a_thousand_who_wait_send_what_one_sends() {
    let mut sent = Vec::new();
    for waiters in [1, 1_000] {
        let rig = Rig::new();
        let [here, there] = rig.open().await;
        let (holder, cache) = (here.cache(), there.cache());
        let Lookup::Lease(lease) = holder.lookup("a", LIFE).lease(LIFE).await else { panic!("it is held") };
        let connections = there.proxy.accepted();
        let origin = Origin::ready();
        let waiting: Vec<_> = (0..waiters).map(|_| origin.call(&cache, "a", Ok("B"))).collect();
        let commands = scripts_during(&rig, Duration::from_secs(2)).await;
        assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Stored);
        for answer in done(join_all(waiting)).await {
            assert_eq!(*answer.unwrap().unwrap(), "A");
        }
        assert_eq!(origin.calls(), 0);
        // One that is replaced now and then is none that waiters keep.
        assert!(there.proxy.accepted() < connections + 10);
        sent.push(commands);
    }
    println!("commands while waiting 2 s: {} for one, {} for a thousand", sent[0], sent[1]);
    assert!(sent[1] <= sent[0] + 3 && sent[1] <= 12, "{sent:?}");
}

/// How long after `end` those who wait in other processes know.
async fn woken_after(end: impl AsyncFn(Lease<String>)) -> Vec<Duration> {
    let rig = Rig::new();
    let processes = rig.open::<3>().await;
    let caches: Vec<_> = processes.iter().map(Process::cache).collect();
    let mut measured = Vec::new();
    for round in 0..9 {
        let id = round.to_string();
        let Lookup::Lease(lease) = caches[0].lookup(&id, LIFE).await else { panic!("it is held") };
        let origin = Origin::ready();
        let waiting: Vec<_> = caches[1..].iter().map(|cache| origin.call(cache, &id, Ok("B"))).collect();
        CLOCK.sleep(Duration::from_millis(400)).await;
        end(lease).await;
        let ended = CLOCK.now();
        done(join_all(waiting)).await;
        measured.push(CLOCK.now().since(ended));
    }
    measured.sort_unstable();
    measured
}

/// The next check would come 400 ms later.
fn are_woken(what: &str, measured: &[Duration]) {
    println!("after a {what} the others knew in {measured:?}");
    assert!(measured[measured.len() / 2] < Duration::from_millis(150), "{what}: {measured:?}");
}

// Waiters are woken, they do not poll.
#[tokio::test]
async fn those_who_wait_in_other_processes_are_woken_by_the_fill() {
    let measured = woken_after(async |lease| {
        assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    });
    are_woken("fill", &measured.await);
}

// Errors are handed over like results.
#[tokio::test]
async fn those_who_wait_in_other_processes_are_woken_by_a_failure() {
    let measured = woken_after(async |lease| assert_eq!(lease.fail().await, Returned::Done));
    are_woken("failure", &measured.await);
}

// C16, C24: whoever gives up is followed at once.
#[tokio::test]
async fn those_who_wait_in_other_processes_are_woken_by_a_lease_given_back() {
    let measured = woken_after(async |lease| drop(lease));
    are_woken("lease given back", &measured.await);
}

// C43: FusionCache refreshes eagerly on every node.
#[tokio::test]
async fn a_stale_value_is_refreshed_once_a_period_over_all_processes() {
    is_refreshed_once_a_period(Refresh::Stale, 700).await;
}

#[tokio::test]
async fn what_is_refreshed_ahead_is_so_once_a_period_over_all_processes() {
    is_refreshed_once_a_period(Refresh::Ahead(0.5), 400).await;
}

#[tokio::test]
async fn what_is_refreshed_by_chance_is_so_once_a_period_over_all_processes() {
    is_refreshed_once_a_period(Refresh::Early { beta: 1.0 }, 400).await;
}

/// Four periods of at least so many milliseconds each, in ten processes.
async fn is_refreshed_once_a_period(refresh: Refresh, least: u64) {
    let rig = Rig::new();
    let processes = rig.open::<10>().await;
    let origin = Origin::taking(100);
    let space = |process: &Process| {
        let builder = process.forebay.cache::<String>("case", Duration::from_millis(600)).jitter(0.0);
        builder.stale_for(LIFE).refresh(refresh).build().unwrap()
    };
    let caches: Vec<_> = processes.iter().map(space).collect();
    fill(&caches[0], "a", "0").await;
    let (began, mut slowest) = (CLOCK.now(), Duration::ZERO);
    let (periods, least) = (4, Duration::from_millis(least));
    while CLOCK.now().since(began) < least * periods + least / 2 {
        let asked = CLOCK.now();
        let callers: Vec<_> = caches.iter().map(|cache| origin.call(cache, "a", Ok("n"))).collect();
        for caller in callers {
            caller.await.unwrap().unwrap();
        }
        slowest = slowest.max(CLOCK.now().since(asked));
        CLOCK.sleep(Duration::from_millis(10)).await;
    }
    let calls = origin.calls();
    println!("{refresh:?}: {calls} refreshes in {periods} periods of {least:?}, slowest answer {slowest:?}");
    assert!((2..=periods as usize).contains(&origin.calls()), "{}", origin.calls());
    assert_eq!(origin.most(), 1);
}

// C58: everything falls through to the origin when Redis is gone. C27: by no more than is allowed.
#[tokio::test]
async fn without_redis_no_more_loads_run_than_the_outage_allows() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder.outage_concurrency(5)).await;
    let (cache, origin) = (here.cache(), Origin::taking(10));
    rig.redis.kill();
    eventually(|| !here.status().usable).await;
    let callers: Vec<_> = (0..200).map(|n| origin.call(&cache, &n.to_string(), Ok("A"))).collect();
    for caller in callers {
        assert_eq!(*done(caller).await.unwrap().unwrap(), "A");
    }
    assert_eq!((origin.calls(), origin.most()), (200, 5));
    rig.redis.restart();
    eventually(|| here.status().usable).await;
    assert_eq!(held(&cache, "never").await, None);
}

/// How many loads two processes with the default budget make, which ask for so many cold keys at one moment.
async fn loads_of_a_burst(keys: usize) -> usize {
    let (rig, origin) = (Rig::new(), Origin::taking(200));
    let open = async || rig.open_with(|builder| builder.redis_budget(Duration::from_millis(50))).await;
    let processes = [open().await, open().await];
    let caches = processes.each_ref().map(Process::cache);
    let callers = (0..keys).flat_map(|key| caches.each_ref().map(|cache| (cache, key.to_string())));
    let callers: Vec<_> = callers.map(|(cache, key)| origin.call(cache, &key, Ok("A"))).collect();
    for answer in done(join_all(callers)).await {
        assert_eq!(*answer.unwrap().unwrap(), "A");
    }
    origin.calls()
}

// The last of so many are answered long after a budget, though the server does nothing but answer.
#[test]
fn a_burst_of_a_thousand_cold_keys_makes_one_load_for_each() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    forebay_rig::unless_starved(|| match runtime.block_on(loads_of_a_burst(1_000)) {
        1_000 => Ok(()),
        more => Err(format!("{more} loads of 1,000 keys")),
    });
}
