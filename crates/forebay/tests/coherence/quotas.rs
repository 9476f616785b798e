//! One quota for several processes: however many ask at once, no more than the limit is admitted.

use std::time::Duration;

use forebay::{
    Subject,
    limiter::{Limiter, Mode, OnOutage, Tiers},
};
use futures::future::join_all;

use crate::rig::{CLOCK, Process, Rig};

const LIMIT: usize = 1_000;
const TASKS: usize = 64;

/// A limiter that says so if Redis is not asked.
fn limiter(process: &Process, mode: Mode) -> Limiter {
    let (policy, tiers) = (format!("{mode:?}").to_lowercase(), Tiers::new().tier("free", ["1000/minute"]));
    let builder = process.forebay.limiter(&policy, tiers.unwrap()).mode(mode);
    builder.on_outage(OnOutage::Closed).build().unwrap()
}

/// Asks thirty times: together twice as often as the limit allows. `None` if Redis did not answer in time.
async fn ask(limiter: Limiter) -> Option<usize> {
    let (who, mut admitted) = (Subject::user("42"), 0);
    for _ in 0..2 * LIMIT / TASKS {
        let decision = limiter.check(&who, "free").await;
        let quota = decision.quota()?;
        assert!(quota.remaining() <= LIMIT as u64, "{decision:?}");
        admitted += usize::from(decision.is_allowed());
    }
    Some(admitted)
}

/// What sixty-four tasks of four processes are admitted, and what is the most by the time that it took.
async fn race(processes: &[Process], mode: Mode) -> Option<(usize, usize)> {
    let limiters: Vec<_> = processes.iter().map(|process| limiter(process, mode)).collect();
    let began = CLOCK.now();
    let tasks = (0..TASKS).map(|task| tokio::spawn(ask(limiters[task % limiters.len()].clone())));
    let admitted: usize = join_all(tasks).await.into_iter().map(Result::unwrap).sum::<Option<usize>>()?;
    let paid_off = CLOCK.now().since(began).as_millis() as usize * LIMIT / 60_000 + 1;
    println!("{mode:?}: {admitted} admitted, {paid_off} paid off meanwhile");
    Some((admitted, LIMIT + if mode == Mode::Gcra { paid_off } else { 0 }))
}

/// Races in each mode.
async fn races() -> Result<(), String> {
    let rig = Rig::new();
    let processes: [Process; 4] = rig.open().await;
    for mode in [Mode::Strict, Mode::Log, Mode::Sliding, Mode::Gcra] {
        let (admitted, most) = race(&processes, mode).await.ok_or("Redis did not answer in time")?;
        assert!((LIMIT..=most).contains(&admitted), "{mode:?}: {admitted} of {most}");
    }
    Ok(())
}

// R35, R9: gubernator's and node-rate-limiter-flexible's processes admit more together than one would.
#[test]
fn four_processes_admit_the_limit_and_not_one_call_more() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    forebay_rig::unless_starved(|| runtime.block_on(races()));
}

/// How long scripts take, by the server's own account: the median, and what 99 of a hundred take at most.
async fn spans_of_scripts(mode: Mode) -> [Duration; 2] {
    let rig = Rig::new();
    let [process] = rig.open().await;
    let tiers = Tiers::new().tier("free", ["1000000/day"]).unwrap();
    let limiter = process.forebay.limiter("api", tiers).mode(mode).on_outage(OnOutage::Closed);
    let (limiter, who) = (limiter.build().unwrap(), Subject::user("42"));
    assert!(limiter.check_cost(&who, "free", 500_000).await.is_allowed());
    for _ in 0..2_000 {
        assert!(limiter.check(&who, "free").await.is_allowed());
    }
    let statistics = rig.redis.call(&["INFO", "latencystats"]);
    let line = statistics.lines().find(|line| line.contains("usec_evalsha:")).unwrap();
    ["p50=", "p99="].map(|name| {
        let (_, micros) = line.split_once(name).unwrap();
        Duration::from_secs_f64(micros.split(',').next().unwrap().parse::<f64>().unwrap() / 1e6)
    })
}

// R42: a log of seventy thousand a day holds up the server; what is counted costs the same whatever was taken. On a
// machine that does something else, too, the median says so, and nothing rarer.
#[tokio::test]
async fn a_large_quota_costs_the_server_no_more_than_a_small_one() {
    for mode in [Mode::Strict, Mode::Sliding, Mode::Gcra] {
        let [median, p99] = spans_of_scripts(mode).await;
        println!("{mode:?}: median {median:?}, p99 {p99:?}");
        assert!(median < Duration::from_micros(100), "{mode:?}: {median:?}");
    }
}
