//! What a cache, a limiter and Redis do, as a recorder of the facade sees it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use forebay::{
    Builder, Forebay, Subject, Token,
    cache::{Cache, Filled, Load, Lookup, Returned},
    clock::Clock,
    limiter::Tiers,
    metrics::Metrics,
    observe::{CheckOutcome, Event, Observe},
};
use forebay_rig::Redis;
use futures::{FutureExt, future::join_all};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::sync::Semaphore;

const MINUTE: Duration = Duration::from_secs(60);

/// How long a busy machine takes is no part of the tests.
const PATIENT: Duration = Duration::from_secs(10);

/// A program with its figures.
struct Program {
    forebay: Forebay,
    metrics: Metrics,
    handle: PrometheusHandle,
}

impl Program {
    async fn over(redis: Option<&Redis>) -> Self {
        let builder = Forebay::builder("metrics");
        let program = match redis {
            Some(redis) => Self::of(builder.redis(redis.url()).redis_budget(PATIENT)).await,
            None => Self::of(builder.memory()).await,
        };
        // Until it hears, it keeps nothing in memory.
        while redis.is_some() && program.value("forebay_bus_hears") == 0.0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        program
    }

    async fn of(builder: Builder) -> Self {
        let recorder = PrometheusBuilder::new().set_buckets(&[0.5, 1.0, 2.0, 50.0]).unwrap().build_recorder();
        let handle = recorder.handle();
        let metrics = Metrics::builder().recorder(recorder).build();
        let forebay = builder.observe(metrics.clone()).build().await.unwrap();
        Self { forebay, metrics, handle }
    }

    /// The lines that begin with `series` and a space.
    fn value(&self, series: &str) -> f64 {
        self.metrics.publish(&self.forebay);
        let text = self.handle.render();
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().unwrap()
    }

    fn space(&self, name: &str) -> f64 {
        self.value(&format!(r#"forebay_cache_{name}{{space="numbers"}}"#))
    }

    /// Waits until a flight has ended: its callers may be answered before that, and its value be kept.
    async fn landed(&self) {
        for _ in 0..2_000 {
            if self.space("flight_callers_count") > 0.0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("no flight has ended");
    }

    fn cache(&self, name: &str, outcome: &str) -> f64 {
        self.value(&format!(r#"forebay_cache_{name}{{space="numbers",outcome="{outcome}"}}"#))
    }

    fn numbers(&self) -> Cache<u64> {
        self.forebay.cache("numbers", MINUTE).absent_for(MINUTE).build().unwrap()
    }
}

async fn number(load: Load<u64>) -> Result<u64, Infallible> {
    Ok(load.id().len() as u64)
}

#[tokio::test]
async fn a_stampede_is_one_flight_with_all_its_callers() {
    let redis = Redis::start();
    for redis in [None, Some(&redis)] {
        let program = Program::over(redis).await;
        let (numbers, gate) = (program.numbers(), Arc::new(Semaphore::new(0)));
        let callers = join_all((0..20).map(|_| {
            let gate = gate.clone();
            numbers.get_or_load("a", async move |_| {
                gate.acquire().await.unwrap().forget();
                Ok::<_, Infallible>(7)
            })
        }));
        // Polled after all callers have come: each takes its seat before it waits.
        let opened = async { gate.add_permits(1) };
        let (answers, ()) = tokio::join!(callers, opened);
        assert!(answers.iter().all(|answer| matches!(answer, Ok(value) if **value == 7)));
        program.landed().await;
        for _ in 0..5 {
            numbers.get_or_load("a", number).await.unwrap();
        }

        assert_eq!(program.cache("requests_total", "loaded"), 1.0);
        assert_eq!(program.cache("requests_total", "coalesced"), 19.0);
        assert_eq!(program.cache("requests_total", "memory"), 5.0);
        assert_eq!(program.cache("request_duration_seconds_count", "coalesced"), 19.0);
        assert_eq!(program.cache("loads_total", "value"), 1.0);
        assert_eq!(program.space("load_duration_seconds_count"), 1.0);
        let flights = ["flight_callers_count", "flight_callers_sum"].map(|name| program.space(name));
        assert_eq!(flights, [1.0, 20.0]);
        assert_eq!(program.value("forebay_cache_memory_entries"), if redis.is_none() { 2.0 } else { 1.0 });
    }
}

#[tokio::test]
async fn each_request_counts_once_whatever_answers_it() {
    let redis = Redis::start();
    for redis in [None, Some(&redis)] {
        let program = Program::over(redis).await;
        let numbers = program.numbers();
        for _ in 0..2 {
            numbers.find_or_load("none", async |_| Ok::<_, Infallible>(None::<u64>)).await.unwrap();
            program.landed().await;
            numbers.get("none").await;
        }
        numbers.get("nothing").await;
        numbers.get_or_load("a", number).await.unwrap();
        numbers.get_or_load("b", async |_| Err::<u64, _>("no")).await.unwrap_err();

        let counts =
            ["memory", "store", "stale", "loaded", "coalesced", "absent", "filtered", "miss", "failed"]
                .map(|outcome| program.cache("requests_total", outcome));
        assert_eq!(counts, [3.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
    }
}

// C23: a caller that goes away is counted, and is no failure.
#[tokio::test]
async fn a_caller_that_goes_away_is_counted() {
    let program = Program::over(None).await;
    let numbers = program.numbers();
    let load = async |_: Load<u64>| std::future::pending::<Result<u64, Infallible>>().await;
    assert!(tokio::time::timeout(Duration::from_millis(50), numbers.get_or_load("a", load)).await.is_err());
    assert_eq!(program.value(r#"forebay_cache_cancelled_waits_total{space="numbers"}"#), 1.0);
    assert_eq!(program.cache("requests_total", "failed"), 0.0);
}

// C57: a value that is too large is handed out, not stored, and counted.
#[tokio::test]
async fn a_value_that_is_too_large_is_counted() {
    let program = Program::over(None).await;
    let texts = program.forebay.cache::<String>("numbers", MINUTE).max_bytes(100).build().unwrap();
    texts.get_or_load("a", async |_| Ok::<_, Infallible>("x".repeat(1_000))).await.unwrap();
    assert_eq!(program.cache("fills_total", "too_large"), 1.0);
}

// C51: what another version has stored, or R3: somebody else, is counted as unreadable.
#[tokio::test]
async fn what_cannot_be_read_is_counted() {
    let redis = Redis::start();
    let program = Program::over(Some(&redis)).await;
    let (numbers, texts) = (program.numbers(), Program::over(Some(&redis)).await);
    let texts = texts.forebay.cache::<String>("numbers", MINUTE).build().unwrap();
    texts.put("a", "no number".to_owned()).await.unwrap();
    numbers.get_or_load("a", number).await.unwrap();
    assert_eq!(program.value(r#"forebay_cache_unreadable_total{space="numbers"}"#), 1.0);

    let tiers = Tiers::new().tier("free", ["9/minute"]).unwrap();
    let limiter = program.forebay.limiter("api", tiers).build().unwrap();
    let unreadable = r#"forebay_limiter_unreadable_total{policy="api"}"#;
    assert_eq!(program.value(unreadable), 0.0);
    assert!(limiter.check(&Subject::user("ada"), "free").await.is_allowed());
    let keys = redis.call(&["KEYS", "*rate_limit*"]);
    redis.call(&["SET", keys.trim(), "abc", "PX", "60000"]);
    assert!(limiter.check(&Subject::user("ada"), "free").await.is_allowed());
    assert_eq!(program.value(unreadable), 1.0);
}

#[tokio::test]
async fn loads_under_a_lease_count_from_its_grant() {
    let program = Program::over(None).await;
    let numbers = program.numbers();
    let Lookup::Lease(lease) = numbers.lookup("a", Duration::ZERO).await else { panic!("nobody has it") };
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(lease.fill(1).await.unwrap(), Filled::Stored);
    let Lookup::Lease(lease) = numbers.lookup("b", Duration::ZERO).await else { panic!("nobody has it") };
    assert_eq!(lease.fail().await, Returned::Done);
    assert_eq!((program.cache("loads_total", "value"), program.cache("loads_total", "failed")), (1.0, 1.0));
    assert!(program.value(r#"forebay_cache_load_duration_seconds_sum{space="numbers"}"#) >= 0.02);
    assert_eq!(numbers.stats().loads, 2);
}

#[tokio::test]
async fn locks_are_held_and_waited_for() {
    let program = Program::over(None).await;
    let lock = program.forebay.lock("a").wait(MINUTE);
    let guard = lock.acquire().await.unwrap();
    let second = tokio::spawn({
        let lock = lock.clone();
        async move { lock.acquire().await.unwrap() }
    });
    while program.value("forebay_locks_waiting") == 0.0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(program.value("forebay_locks_held"), 1.0);
    drop(guard);
    drop(second.await.unwrap());
    assert_eq!((program.value("forebay_locks_held"), program.value("forebay_locks_waiting")), (0.0, 0.0));
    assert_eq!(program.value(r#"forebay_lock_requests_total{outcome="acquired"}"#), 2.0);
}

#[tokio::test]
async fn a_load_is_as_long_as_its_loader_and_not_as_the_wait_for_a_permit() {
    let (clock, time) = Clock::manual();
    let program = Program::of(Forebay::builder("metrics").memory().clock(clock)).await;
    let numbers = program.forebay.cache("numbers", MINUTE).load_concurrency(1).wait(MINUTE).build().unwrap();
    let gate = Arc::new(Semaphore::new(0));
    let first = numbers.get_or_load("a", {
        let gate = gate.clone();
        async move |_| {
            gate.acquire().await.unwrap().forget();
            Ok::<_, Infallible>(7)
        }
    });
    let passed = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        // Less than what a lease lives.
        time.advance(Duration::from_secs(1));
        gate.add_permits(1);
    };

    let (first, second, ()) = tokio::join!(first, numbers.get_or_load("b", number), passed);

    assert_eq!((*first.unwrap(), *second.unwrap()), (7, 1));
    let told = ["count", "sum"].map(|what| program.space(&format!("load_duration_seconds_{what}")));
    assert_eq!(told, [2.0, 1.0]);
}

// C38: the own heartbeat that comes back is what shows that the bus is heard. R13: what Redis refuses is counted.
#[tokio::test]
async fn redis_and_its_bus_are_told_of() {
    let redis = Redis::start();
    let program = Program::over(Some(&redis)).await;
    let numbers = program.numbers();
    assert!(program.value("forebay_bus_messages_total") >= 1.0);
    assert!(program.value("forebay_bus_lag_seconds") < 1.0);
    assert_eq!((program.value("forebay_bus_processes"), program.value("forebay_redis_usable")), (1.0, 1.0));
    numbers.get("a").await;
    numbers.get("b").await;
    assert_eq!(program.value(r#"forebay_redis_command_duration_seconds_count{command="get"}"#), 2.0);

    redis.call(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(program.forebay.claim("a", MINUTE).await.is_err());
    assert_eq!(program.value(r#"forebay_redis_errors_total{kind="refused"}"#), 1.0);
    redis.kill();
    while program.value("forebay_redis_usable") == 1.0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    program.forebay.claim("b", MINUTE).await.unwrap_err();
    assert!(program.value(r#"forebay_redis_errors_total{kind="not_sent"}"#) >= 1.0);
    assert_eq!(program.value(r#"forebay_claims_total{outcome="unavailable"}"#), 2.0);
    assert_eq!(program.value("forebay_redis_breakers_open"), 1.0);
}

#[tokio::test]
async fn whoever_asks_for_a_lock_that_is_free_does_not_wait_for_it() {
    let redis = Redis::start();
    let program = Program::over(Some(&redis)).await;
    let lock = program.forebay.lock("a").wait(MINUTE);
    for lock in [lock.clone(), lock.token(Token::random())] {
        redis.pause();
        let mut asked = pin!(lock.acquire());
        assert!(asked.as_mut().now_or_never().is_none());
        assert_eq!(program.value("forebay_locks_waiting"), 0.0);
        redis.resume();
        asked.await.unwrap().release().await.unwrap();
    }
}

#[tokio::test]
async fn names_beyond_those_that_are_shown_are_shown_together() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let metrics = Metrics::builder().recorder(recorder).spaces(["shown"]).build();
    let forebay = Forebay::builder("names").observe(metrics.clone()).memory().build().await.unwrap();
    for space in ["shown", "first", "second"] {
        let cache = forebay.cache::<u64>(space, MINUTE).build().unwrap();
        cache.put("a", 1).await.unwrap();
        for _ in 0..3 {
            cache.get_or_load("a", number).await.unwrap();
        }
    }
    for _ in 0..3 {
        metrics.publish(&forebay);
    }
    let text = handle.render();
    for (space, hits, puts) in [("shown", 2, 1), ("other", 4, 2)] {
        let line = format!("forebay_cache_requests_total{{space=\"{space}\",outcome=\"memory\"}} {hits}\n");
        assert!(text.contains(&line), "{line}{text}");
        let line = format!("forebay_cache_changes_total{{space=\"{space}\",source=\"put\"}} {puts}\n");
        assert!(text.contains(&line), "{line}{text}");
    }
    assert!(!text.contains("first"), "{text}");
}

#[tokio::test]
async fn policies_beyond_those_that_are_told_apart_lend_their_name_to_nobody() {
    let program = Program::over(None).await;
    let checked = |policy: &str| {
        program.metrics.record(Event::Checked { policy, tier: "free", outcome: CheckOutcome::Allowed });
    };
    (0..1_024).for_each(|number| checked(&format!("policy-{number}")));
    checked("late");
    checked("later");
    let decisions = r#"forebay_limiter_decisions_total{policy="other",tier="free",outcome="allowed"}"#;
    assert_eq!(program.value(decisions), 2.0);
}
