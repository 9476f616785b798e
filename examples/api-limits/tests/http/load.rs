//! The load that a reader runs: its figures, and the refusal that it shows.

use std::{collections::HashMap, process::Command, time::SystemTime};

use forebay_rig::{Redis, unless_starved};
use serde_json::{Value, json};

use crate::program::command;

const TABLE: &str = "\
tier          request        sent  admitted  refused
free          GET /quote       15        10        5
basic         GET /quote       35        30        5
pro           GET /quote       65        60        5
free, no key  GET /report       4         2        2
free, no key  POST /sign-in     8         5        3
";

/// What a load prints, which must end well.
fn load(command: &mut Command) -> String {
    let output = command.arg("load").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The status line, the headers and the body of the refusal that a load shows.
fn refusal(told: &str) -> (&str, HashMap<&str, &str>, Value) {
    let (head, body) = told.split_once("HTTP/1.1 ").unwrap().1.split_once("\n\n").unwrap();
    let (status, headers) = head.split_once('\n').unwrap();
    let headers = headers.lines().map(|line| line.split_once(": ").unwrap());
    (status, headers.collect(), serde_json::from_str(body).unwrap())
}

// Exact, since nothing that was taken counts as free before its minute is over.
#[test]
fn each_tier_is_admitted_up_to_its_limit_of_a_minute() {
    let told = load(&mut command());
    assert!(told.starts_with(TABLE), "{told}");
}

#[test]
fn the_refusal_comes_with_all_its_headers() {
    let told = load(&mut command());
    let (status, headers, body) = refusal(&told);
    let retry_after: u64 = headers["retry-after"].parse().unwrap();
    assert!((60..=66).contains(&retry_after), "{retry_after}");
    assert_eq!(status, "429 Too Many Requests");
    for (name, value) in [
        ("content-type", "application/problem+json"),
        ("cache-control", "no-store"),
        ("x-ratelimit-limit", "10"),
        ("x-ratelimit-remaining", "0"),
        ("ratelimit-policy", r#""api-minute";q=10;w=60, "api-hour";q=100;w=3600"#),
    ] {
        assert_eq!(headers[name], value, "{name}");
    }
    let limits = format!(r#""api-minute";r=0;t={retry_after}, "api-hour";r=90;t=39"#);
    assert!(headers["ratelimit"].starts_with(&limits), "{}", headers["ratelimit"]);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let reset: u64 = headers["x-ratelimit-reset"].parse().unwrap();
    assert!((now + 55..=now + 67).contains(&reset), "{reset} is a minute after {now}");
    assert_eq!(body["violated-policies"], json!(["api-minute"]));
    assert_eq!(body["retry_after"], retry_after);
}

#[test]
fn without_the_redis_that_it_was_given_the_limits_hold() {
    let told = load(command().env("FOREBAY_REDIS_URL", "redis://127.0.0.1:1"));
    assert!(told.starts_with(TABLE), "{told}");
}

#[test]
fn a_second_program_over_the_same_redis_finds_the_quotas_used_up() {
    // A Redis that gets no share of the machine is not waited for, and each then counts by itself.
    unless_starved(|| {
        let redis = Redis::start();
        let first = load(command().env("FOREBAY_REDIS_URL", redis.url()));
        let second = load(command().env("FOREBAY_REDIS_URL", redis.url()));
        let none = TABLE.lines().skip(1).all(|row| {
            let sent = row[29..33].trim();
            second.lines().any(|line| line == format!("{}{:>10}{sent:>9}", &row[..33], 0))
        });
        let shared = first.starts_with(TABLE) && none;
        shared.then_some(()).ok_or_else(|| format!("they counted apart:\n{first}{second}"))
    });
}
