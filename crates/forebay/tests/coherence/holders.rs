//! Leases whose holders leave, die, take long or fail: somebody else goes on, and one at a time.

use std::time::Duration;

use forebay::{
    cache::{Abandoned, Cache, Filled, LoadError, Lookup},
    clock::Clock,
    dice::Dice,
    testing::Flow,
};
use futures::future::join_all;

use crate::rig::{CLOCK, LIFE, Origin, Process, Rig, done, eventually, held, lease_key};

const LEASE: Duration = Duration::from_secs(1);

fn leased(process: &Process) -> Cache<String> {
    process.builder().lease(LEASE).build().unwrap()
}

// C16: rueidis leaves what a cancelled caller asked for locked; its clean-up overtakes the request.
#[tokio::test]
async fn callers_that_vanish_at_any_moment_leave_no_lease() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let (cache, dice) = (here.builder().lease(LIFE).build().unwrap(), Dice::seeded(16));
    here.proxy.replies(Flow::Delay(Duration::from_millis(1)));
    for few in 0..200 {
        let callers = (0..50).map(|n| {
            let (cache, span) = (cache.clone(), Duration::from_micros(dice.bits() % 8_000));
            tokio::spawn(async move {
                let looked = async { cache.lookup(format!("{few} {}", n / 2), LIFE).lease(LIFE).await };
                CLOCK.timeout(span, looked).await
            })
        });
        drop(join_all(callers.collect::<Vec<_>>()).await);
    }
    here.proxy.replies(Flow::Pass);
    let asked = rig.redis.script_calls();
    println!("10 000 callers vanished, after {asked} scripts");
    assert!(asked > 1_000, "they vanished before they asked: {asked}");
    eventually(|| rig.leases().is_empty()).await;
    assert!(matches!(cache.lookup("7", Duration::ZERO).await, Lookup::Lease(_)));
}

// C31: django-redis-cache set the lock, and then could not set its end. C16: whose answer is lost.
#[tokio::test]
async fn a_lease_ends_by_itself_wherever_its_connection_is_cut() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (cache, dice) = (leased(&here), Dice::seeded(31));
    for n in 0..40 {
        eventually(|| here.status().usable).await;
        let (cache, id) = (cache.clone(), n.to_string());
        let caller = tokio::spawn(async move { cache.lookup(id, Duration::ZERO).await });
        CLOCK.sleep(Duration::from_millis(dice.bits() % 3)).await;
        here.proxy.cut();
        std::mem::forget(caller.await.unwrap());
        assert_eq!(rig.redis.keys_without_expiry(), Vec::<String>::new());
    }
    CLOCK.sleep(LEASE + Duration::from_millis(100)).await;
    assert_eq!(rig.leases(), "");
    assert!(matches!(leased(&there).lookup("0", Duration::ZERO).await, Lookup::Lease(_)));
}

// C30, C34, Q11: aiocache lets everybody through when the lease of a dead holder ends.
#[tokio::test]
async fn one_of_all_who_wait_takes_over_from_a_holder_that_died() {
    let rig = Rig::new();
    let processes = rig.open::<4>().await;
    let (origin, dead) = (Origin::taking(100), Origin::paused());
    let caches: Vec<_> = processes.iter().map(leased).collect();
    let lost = dead.call(&caches[0], "a", Ok("never"));
    eventually(|| dead.calls() == 1 && !rig.leases().is_empty()).await;
    let living = caches[1..].iter().cycle().take(150);
    let waiting: Vec<_> = living.map(|cache| origin.call(cache, "a", Ok("new"))).collect();
    CLOCK.sleep(Duration::from_millis(300)).await;
    processes[0].proxy.refuse();
    processes[0].proxy.cut();
    let died = CLOCK.now();
    for waiting in waiting {
        assert_eq!(*done(waiting).await.unwrap().unwrap(), "new");
    }
    println!("holder died: the others had a value after {:?}", CLOCK.now().since(died));
    assert!(CLOCK.now().since(died) < LEASE + Duration::from_secs(1));
    assert_eq!(origin.calls(), 1);
    lost.abort();
}

// C30, Q14: dogpile's load outlasts its lock, and fails although it has a value.
#[tokio::test]
async fn a_load_longer_than_its_lease_is_renewed_and_stays_the_only_one() {
    let rig = Rig::new();
    let processes = rig.open::<3>().await;
    let origin = Origin::taking(3_500);
    let short = |process: &Process| process.builder().lease(LEASE * 3 / 2).build().unwrap();
    let caches: Vec<_> = processes.iter().map(short).collect();
    let callers: Vec<_> =
        caches.iter().cycle().take(60).map(|cache| origin.call(cache, "a", Ok("A"))).collect();
    for caller in callers {
        assert_eq!(*done(caller).await.unwrap().unwrap(), "A");
    }
    assert_eq!(origin.calls(), 1);
    assert_eq!(caches.iter().map(|cache| cache.stats().refused_fills).sum::<u64>(), 0);
}

// C24, Q6, Q13: the cancellation of one is nobody else's failure, in whatever process.
#[tokio::test]
async fn a_load_cancelled_in_one_process_is_taken_over_by_another_at_once() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let first = here.builder().lease(LIFE).abandoned(Abandoned::Cancel).build().unwrap();
    let (second, origin, left) = (there.cache(), Origin::taking(10), Origin::paused());
    let leader = left.call(&first, "a", Ok("never"));
    eventually(|| left.calls() == 1).await;
    let waiting: Vec<_> = (0..50).map(|_| origin.call(&second, "a", Ok("A"))).collect();
    CLOCK.sleep(Duration::from_millis(200)).await;
    leader.abort();
    let began = CLOCK.now();
    for caller in waiting {
        assert_eq!(*done(caller).await.unwrap().unwrap(), "A");
    }
    let took = CLOCK.now().since(began);
    println!("leader cancelled: the other process had a value after {took:?}");
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(origin.calls(), 1);
}

// Q9, Q4: BentoCache runs two failing loads at a time. Errors are handed over like results.
#[tokio::test]
async fn a_load_that_fails_in_one_process_is_not_tried_by_the_others() {
    let rig = Rig::new();
    let processes = rig.open::<3>().await;
    let origin = Origin::taking(200);
    let caches: Vec<_> = processes.iter().map(Process::cache).collect();
    let callers: Vec<_> =
        caches.iter().cycle().take(30).map(|cache| origin.call(cache, "a", Err("down"))).collect();
    let (mut own, mut elsewhere) = (0, 0);
    for caller in callers {
        match done(caller).await.unwrap() {
            Err(LoadError::Failed(_)) => own += 1,
            Err(LoadError::FailedElsewhere { .. }) => elsewhere += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((origin.calls(), own, elsewhere), (1, 10, 20));
}

// Q15: rockscache's locks and ends are computed by the clocks of its clients.
#[tokio::test]
async fn a_clock_that_is_wrong_takes_no_lease_and_prolongs_no_life() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let (clock, time) = Clock::manual();
    time.advance(Duration::from_secs(86_400));
    let there = rig.open_with(|builder| builder.clock(clock)).await;
    let (right, wrong) = (here.cache(), there.cache());
    let Lookup::Lease(lease) = right.lookup("a", Duration::ZERO).await else { panic!("nobody loads yet") };
    time.advance(Duration::from_secs(10));
    assert!(matches!(wrong.lookup("a", Duration::ZERO).await, Lookup::Busy { .. }));
    assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(held(&wrong, "a").await.as_deref(), Some("A"));
    wrong.put("b", "B".to_owned()).await.unwrap();
    let left = rig.redis.call(&["PTTL", "cache:rig:case:v1:{b}"]).parse::<u64>().unwrap();
    assert!((50_000..=60_000).contains(&left), "{left}");
}

// Q15, C30: a lock whose holder crashed has an end from the first moment.
#[tokio::test]
async fn a_lease_has_its_end_and_is_gone_after_it() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let held = here.cache().lookup("a", Duration::ZERO).lease(LEASE * 2).await;
    let left = rig.redis.call(&["PTTL", &lease_key("a")]).parse::<u64>().unwrap();
    assert!((1..=2_000).contains(&left), "{left}");
    let taken = done(there.cache().lookup("a", LIFE)).await;
    assert!(matches!(taken, Lookup::Lease(_)), "{taken:?}");
    drop(held);
    assert!(rig.leases().contains(&lease_key("a")));
}
