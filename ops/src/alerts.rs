//! When somebody is to look: rules for Prometheus.

use std::fmt::Write;

use forebay::metrics::table::{
    BUS_GAPS, BUS_HEARS, BUS_LAG_SECONDS, CACHE_BREAKER_OPENED, CACHE_DEFERRED_AGE_SECONDS, CACHE_LOADS,
    CACHE_MEMORY_BYTES, CACHE_MEMORY_LIMIT_BYTES, CACHE_REQUESTS, CACHE_UNREADABLE, HTTP_REQUESTS,
    IDEMPOTENCY_COMPLETIONS, LIMITER_DECISIONS, LIMITER_UNREADABLE, LOCKS_LOST, Metric,
    REDIS_COMMAND_SECONDS, REDIS_ERRORS, REDIS_USABLE, TOPIC_MESSAGES, VISITORS,
};

use crate::query::{INSTANCE, Query, of};

/// One rule.
#[derive(Debug)]
pub struct Alert {
    /// What it is called.
    pub name: &'static str,
    /// What holds when it fires.
    pub condition: String,
    /// For how long, as Prometheus writes it.
    pub holds_for: &'static str,
    /// `critical`, `warning` or `info`.
    pub severity: &'static str,
    /// What is wrong.
    pub summary: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// All rules.
#[must_use]
pub fn alerts() -> Vec<Alert> {
    [redis(), bus(), loads(), values(), limits(), names(), messages()].into_iter().flatten().collect()
}

fn alert(severity: &'static str, name: &'static str, condition: String) -> Alert {
    Alert { name, condition, holds_for: "0m", severity, summary: "", remedy: "" }
}

fn warning(name: &'static str, condition: String) -> Alert {
    alert("warning", name, condition)
}

impl Alert {
    /// Fires once the condition has held for so long.
    fn after(self, holds_for: &'static str) -> Self {
        Self { holds_for, ..self }
    }

    fn says(self, summary: &'static str, remedy: &'static str) -> Self {
        Self { summary, remedy, ..self }
    }
}

fn redis() -> Vec<Alert> {
    let (errors, requests) = (of(&REDIS_ERRORS), of(&REDIS_COMMAND_SECONDS));
    let rate = |query: &Query| query.rate("5m", &[INSTANCE]);
    vec![
        alert(
            "critical",
            "ForebayRedisUnusable",
            format!("{} == 0", of(&REDIS_USABLE).lowest(&[INSTANCE])),
        )
        .after("1m")
        .says(
            "The process {{ $labels.instance }} cannot use Redis.",
            "Reads go on from memory and the origin; locks and claims do not. Ask /readyz?verbose for the reason.",
        ),
        warning("ForebayRedisErrors", format!("{} > 0.01 * {}", rate(&errors), rate(&requests)))
            .after("5m")
            .says(
                "More than one in a hundred requests of {{ $labels.instance }} to Redis fails.",
                "Look which kind it is: time-outs speak of load or the network, refusals of memory or rights.",
            ),
        warning("ForebayRedisSlow", format!("{} > 0.025", requests.quantile(0.99, "5m", &[INSTANCE])))
            .after("10m")
            .says(
                "One in a hundred requests of {{ $labels.instance }} to Redis takes longer than 25 ms.",
                "Look for slow commands of others (SLOWLOG), for swapping, and at the network.",
            ),
    ]
}

fn bus() -> Vec<Alert> {
    vec![
        warning("ForebayBusDeaf", format!("{} == 0", of(&BUS_HEARS).lowest(&[INSTANCE]))).after("1m").says(
            "The process {{ $labels.instance }} does not hear what others change.",
            "It keeps nothing in memory meanwhile. Look whether its user may subscribe, and at the log.",
        ),
        warning("ForebayBusLate", format!("{} > 0.5", of(&BUS_LAG_SECONDS).highest(&[INSTANCE])))
            .after("2m")
            .says(
                "A word of {{ $labels.instance }} takes longer than half a second through Redis and back.",
                "Memory of other processes is that much older. Look at the load of Redis and of the process.",
            ),
        warning("ForebayBusGaps", format!("{} > 5", of(&BUS_GAPS).increase("10m", &[INSTANCE]))).says(
            "The process {{ $labels.instance }} misses messages of the bus again and again.",
            "Each time memory is not trusted. Raise client-output-buffer-limit pubsub, or look at the network.",
        ),
    ]
}

fn loads() -> Vec<Alert> {
    let failed = of(&CACHE_LOADS).only("outcome", &["failed", "timed_out", "panicked"]);
    let kept_out = of(&CACHE_LOADS).only("outcome", &["overloaded", "refused"]);
    let rate = |query: &Query, window| query.rate(window, &["space"]);
    let (all, reads) = (of(&CACHE_LOADS), of(&CACHE_REQUESTS));
    let reads = rate(&reads, "30m");
    let few = format!("{} > 0.5 * {reads} and {reads} > 1", rate(&all, "30m"));
    vec![
        warning("ForebayLoadsFail", format!("{} > 0.1 * {}", rate(&failed, "5m"), rate(&all, "5m")))
            .after("5m")
            .says(
                "More than a tenth of the loads of {{ $labels.space }} fails.",
                "Look at the origin. Stale values are served where stale_for allows it.",
            ),
        warning("ForebayLoadsKeptOut", format!("{} > 0", rate(&kept_out, "5m"))).after("5m").says(
            "Loads of {{ $labels.space }} are not begun.",
            "The origin is slower than it is asked, or its breaker is open. See load_concurrency and origin_breaker.",
        ),
        warning(
            "ForebayOriginLeftAlone",
            format!("{} > 3", of(&CACHE_BREAKER_OPENED).increase("10m", &["space"])),
        )
        .says(
            "The origin of {{ $labels.space }} is left alone again and again.",
            "It fails each time it is tried. Look at the origin.",
        ),
        alert("info", "ForebayHitsFew", few).after("30m").says(
            "More than half of the reads of {{ $labels.space }} load.",
            "Values live too short for how often they are read, or memory is too small for them.",
        ),
    ]
}

fn values() -> Vec<Alert> {
    let highest = |metric: &Metric| of(metric).highest(&[INSTANCE]);
    let (used, limit) = (highest(&CACHE_MEMORY_BYTES), highest(&CACHE_MEMORY_LIMIT_BYTES));
    vec![
        warning("ForebayChangesDeferred", format!("{} > 60", highest(&CACHE_DEFERRED_AGE_SECONDS))).says(
            "Redis has not confirmed a change of {{ $labels.instance }} for more than a minute.",
            "Other processes may serve the old value. It is sent again until it is confirmed.",
        ),
        warning(
            "ForebayEntriesUnreadable",
            format!("{} > 0", of(&CACHE_UNREADABLE).increase("10m", &["space"])),
        )
        .after("30m")
        .says(
            "Entries of {{ $labels.space }} cannot be read, for longer than a deployment takes.",
            "Two versions share a space whose values differ in shape: give them different versions.",
        ),
        alert("info", "ForebayMemoryFull", format!("{used} > 0.95 * {limit}")).after("30m").says(
            "The process memory of {{ $labels.instance }} is full.",
            "What is read least makes room. Raise local_bytes if reads go to Redis for want of it.",
        ),
    ]
}

fn limits() -> Vec<Alert> {
    let undecided = of(&LIMITER_DECISIONS).only("outcome", &["unavailable"]);
    vec![
        warning("ForebayLimiterUndecided", format!("{} > 0", undecided.rate("5m", &["policy"])))
            .after("1m")
            .says(
                "The policy {{ $labels.policy }} cannot decide.",
                "Redis cannot be asked, and the policy is closed meanwhile. See on_outage.",
            ),
        warning(
            "ForebayLimiterUnreadable",
            format!("{} > 0", of(&LIMITER_UNREADABLE).increase("10m", &["policy"])),
        )
        .says(
            "Counts of the policy {{ $labels.policy }} cannot be read, and begin anew.",
            "Something else writes to keys of the application. Look who has rights to them.",
        ),
    ]
}

fn names() -> Vec<Alert> {
    let unproven = of(&IDEMPOTENCY_COMPLETIONS).only("outcome", &["lost", "unconfirmed"]);
    vec![
        warning("ForebayLocksLost", format!("{} > 0", of(&LOCKS_LOST).increase("10m", &[INSTANCE]))).says(
            "A holder in {{ $labels.instance }} has lost its lock.",
            "Redis was away for longer than the lock's life, or the process stood still.",
        ),
        warning("ForebayCompletionsUnproven", format!("{} > 0", unproven.increase("10m", &[INSTANCE]))).says(
            "What has run once in {{ $labels.instance }} may run again.",
            "Its end was not stored in time. Look at Redis, and raise the lease above what the work takes.",
        ),
    ]
}

fn messages() -> Vec<Alert> {
    let dropped = of(&VISITORS).only("outcome", &["dropped"]);
    let missed = of(&TOPIC_MESSAGES).only("outcome", &["dead_lettered", "lost", "missed"]);
    let answers = of(&HTTP_REQUESTS);
    let errors = answers.clone().like("status", "5..");
    let rate = |query: &Query| query.rate("5m", &["route"]);
    vec![
        warning("ForebayVisitorsDropped", format!("{} > 0", dropped.increase("10m", &["counter"]))).says(
            "Visitors of {{ $labels.counter }} are not counted.",
            "More came while Redis could not be asked than there is room for.",
        ),
        warning("ForebayMessagesLost", format!("{} > 0", missed.increase("10m", &["topic"]))).says(
            "Messages of {{ $labels.topic }} did not reach those whom they were for.",
            "Consumers are too slow for what is kept, or fail. Look at max_len, keep_for and the dead letters.",
        ),
        warning("ForebayHttpErrors", format!("{} > 0.05 * {}", rate(&errors), rate(&answers)))
            .after("5m")
            .says(
                "More than one in twenty answers of {{ $labels.route }} is an error of the server.",
                "Look at the log, by the route, and at /readyz?verbose.",
            ),
    ]
}

/// The file of rules.
#[must_use]
pub fn yaml() -> String {
    let mut text = "# Written by `cargo xtask ops` from the table of metrics; changes belong there.\n\
                    groups:\n  - name: forebay\n    rules:\n"
        .to_owned();
    for Alert { name, condition, holds_for, severity, summary, remedy } in alerts() {
        let [condition, summary, remedy] = [&condition, summary, remedy].map(quoted);
        write!(
            text,
            "      - alert: {name}\n        expr: {condition}\n        for: {holds_for}\n        labels:\n          \
             severity: {severity}\n        annotations:\n          summary: {summary}\n          \
             description: {remedy}\n"
        )
        .expect("a string takes everything");
    }
    text
}

/// In single quotes, where YAML knows no other sign than themselves.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
