//! Refusals that a process remembers: a flood of them is no load, and what frees something ends them elsewhere, too.

use std::time::Duration;

use forebay::{
    Subject,
    clock::Moment,
    limiter::{Limiter, Reservation, Reserved, Tiers},
};

use futures::future::join_all;

use crate::rig::{CLOCK, Process, Rig, done, eventually, lasts};

/// Far more than a message needs, far less than a refusal is believed.
const SOON: Duration = Duration::from_millis(400);

/// For how long a refusal is believed at most, by a clock that a busy machine moves late.
const LONGEST: Duration = Duration::from_millis(1020);

const TASKS: usize = 64;

/// So long that what is remembered is asked about again.
const FLOOD: Duration = Duration::from_millis(2500);

const ROUNDS: u64 = 10;

fn tiers(window: &str) -> Tiers {
    Tiers::new().tier("free", [window]).unwrap()
}

fn limiter(process: &Process) -> Limiter {
    process.forebay.limiter("api", tiers("5/hour")).build().unwrap()
}

async fn admits(limiter: &Limiter, subject: &Subject) -> bool {
    limiter.check(subject, "free").await.is_allowed()
}

/// Takes all there is, until this process remembers that there is none left.
async fn exhaust(limiter: &Limiter, subject: &Subject) {
    while admits(limiter, subject).await {}
    assert!(!admits(limiter, subject).await);
}

/// For how long `there` goes on refusing once `freed` is done.
async fn refused_after(there: &Limiter, subject: &Subject, freed: impl Future<Output = ()>) -> Duration {
    exhaust(there, subject).await;
    freed.await;
    lasts(CLOCK.now(), async || !admits(there, subject).await).await
}

/// Calls in vain until the flood is over, and says how often.
async fn flood(limiter: Limiter, attacker: Subject, began: Moment) -> usize {
    let mut calls = 0;
    while calls < 100_000 / TASKS || CLOCK.now().since(began) < FLOOD {
        for _ in 0..100 {
            assert!(!admits(&limiter, &attacker).await, "after {calls} calls");
        }
        calls += 100;
        tokio::task::yield_now().await;
    }
    calls
}

// R39 with it: a limit that is raised needs no message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_refusals_sends_next_to_nothing() {
    let rig = Rig::new();
    let [process] = rig.open().await;
    let (limiter, attacker) = (limiter(&process), Subject::user("attacker"));
    exhaust(&limiter, &attacker).await;
    let before = (rig.redis.commands_processed(), rig.redis.script_calls());
    let began = CLOCK.now();
    let tasks = (0..TASKS).map(|_| tokio::spawn(flood(limiter.clone(), attacker.clone(), began)));
    let calls: usize = join_all(tasks).await.into_iter().map(Result::unwrap).sum();
    let took = CLOCK.now().since(began);
    let sent = (rig.redis.commands_processed() - before.0, rig.redis.script_calls() - before.1);
    println!("{calls} refusals in {took:?}: {} commands, {} checks", sent.0, sent.1);
    // One question for all, a little more often than a refusal is believed, and beside it the heartbeats.
    let most = 1 + took.as_millis() as u64 / 800;
    assert!(calls >= 100_000 && (1..=most).contains(&sent.1) && sent.0 < 100, "{sent:?} in {took:?}");
    limiter.replace_tiers(tiers("6/hour")).unwrap();
    assert!(admits(&limiter, &attacker).await);
}

#[tokio::test]
async fn a_reset_elsewhere_is_heard() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (here, there) = (limiter(&here), limiter(&there));
    let mut refused = Vec::new();
    for n in 0..ROUNDS {
        let who = Subject::user(n);
        refused.push(refused_after(&there, &who, async { here.reset(&who).await.unwrap() }).await);
    }
    refused.sort_unstable();
    println!("refused after a reset elsewhere: {refused:?}");
    assert!(refused[ROUNDS as usize / 2] < SOON, "{refused:?}");
}

#[tokio::test]
async fn a_reset_whose_message_is_lost_is_seen_within_a_second() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (limiter(&here), limiter(&there));
    for n in 0..4 {
        let (who, dropped) = (Subject::user(n), there.proxy.dropped());
        there.proxy.drop_replies(1, " freed ");
        let refused = refused_after(&reader, &who, async {
            writer.reset(&who).await.unwrap();
            eventually(|| there.proxy.dropped() > dropped).await;
        });
        let refused = refused.await;
        println!("refused for {refused:?} without a message");
        assert!(refused <= LONGEST, "{refused:?}");
    }
}

async fn reserve(limiter: &Limiter, subject: &Subject, cost: u64) -> Reservation {
    match limiter.reserve(subject, "free", cost).await {
        Reserved::Held(reservation) => reservation,
        Reserved::Refused(decision) => panic!("{cost} do not fit: {decision:?}"),
    }
}

#[tokio::test]
async fn a_settlement_elsewhere_is_heard() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (here, there) = (limiter(&here), limiter(&there));
    let mut refused = Vec::new();
    for n in 0..ROUNDS {
        let who = Subject::user(n);
        let reservation = reserve(&here, &who, 4).await;
        refused.push(refused_after(&there, &who, async { reservation.settle(1).await.unwrap() }).await);
    }
    refused.sort_unstable();
    println!("refused after a settlement elsewhere: {refused:?}");
    assert!(refused[ROUNDS as usize / 2] < SOON, "{refused:?}");
}

#[tokio::test]
async fn a_refund_elsewhere_is_heard() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let tenant = Subject::key("tenant");
    let (here, there) = (limiter(&here), limiter(&there));
    exhaust(&here, &tenant).await;
    let mut refused = Vec::new();
    for n in 0..ROUNDS {
        let who = Subject::user(n);
        // Four are taken; the fifth is taken and given back here, while it is missed there.
        for _ in 0..4 {
            assert!(admits(&there, &who).await);
        }
        let scripts = rig.redis.script_calls();
        let asked = [(&who, "free"), (&tenant, "free")];
        let mut call = Box::pin(here.check_all(&asked));
        assert!(futures::poll!(&mut call).is_pending());
        eventually(|| rig.redis.script_calls() > scripts).await;
        exhaust(&there, &who).await;
        let began = CLOCK.now();
        assert!(!done(call).await.is_allowed());
        refused.push(lasts(began, async || !admits(&there, &who).await).await);
    }
    refused.sort_unstable();
    println!("refused after a refund elsewhere: {refused:?}");
    assert!(refused[ROUNDS as usize / 2] < SOON, "{refused:?}");
}

// The answer is on its way while the quota is given back: believing it would be to go on refusing.
#[tokio::test]
async fn a_refusal_that_is_older_than_a_reset_is_not_believed() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (limiter(&here), limiter(&there));
    for n in 0..20 {
        let (who, other) = (Subject::user(n), Subject::user(format!("other-{n}")));
        while admits(&writer, &who).await {}
        exhaust(&reader, &other).await;
        let scripts = rig.redis.script_calls();
        let mut call = Box::pin(reader.check(&who, "free"));
        assert!(futures::poll!(&mut call).is_pending());
        eventually(|| rig.redis.script_calls() > scripts).await;
        writer.reset(&who).await.unwrap();
        writer.reset(&other).await.unwrap();
        // With this message the one before it is heard, too.
        let heard = lasts(CLOCK.now(), async || !admits(&reader, &other).await).await;
        assert!(heard < SOON, "{heard:?}");
        assert!(!call.await.is_allowed(), "the answer is from before the reset");
        assert!(admits(&reader, &who).await, "an answer from before the reset is believed");
    }
}
