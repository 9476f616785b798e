//! `forebay demo`, on a terminal of 80 columns.

use std::{process::Command, thread::sleep, time::Duration};

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{
    Said,
    terminal::{Terminal, is_gone, now},
};
use crate::support::run;

/// A busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

fn has_redis() -> bool {
    Command::new("redis-server").arg("--version").output().is_ok()
}

/// The Redis that a demonstration has started.
fn own_redis(demo: &Terminal) -> u32 {
    let began = now();
    while began.elapsed() < PATIENCE {
        if let [redis] = demo.children()[..] {
            return redis;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("no Redis was started:\n{}", demo.shown());
}

#[test]
fn a_reader_sees_what_it_is_for() {
    let mut demo = Terminal::open(&["demo", "--seconds", "12"], &[]);
    let (why, crowd) = ("Without Forebay every request would be such a load", "200 callers want `new-");
    demo.until(PATIENCE, &[why, "http://127.0.0.1:", crowd, ": 1 load, all have it", " requests  ", "p99"]);
    if has_redis() {
        demo.until(PATIENCE, &["Redis is stopped"]);
        demo.until(PATIENCE, &["Redis is back"]);
    }
    let end =
        demo.until(PATIENCE, &["without Forebay", "with Forebay", "loads from the origin", "not answered"]);
    assert_eq!(demo.ended(PATIENCE), Some(0), "{end}");
    let figures = |row: &str| -> Vec<u64> {
        let line = end.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{row}: {end}"));
        line.split_whitespace().filter_map(|word| word.replace(',', "").parse().ok()).collect()
    };
    let (requests, loads) = (figures("requests"), figures("loads from the origin"));
    assert!(requests[0] > 500 && loads[0] == requests[0] && loads[1] * 2 < loads[0], "{end}");
    assert_eq!(figures("not answered"), [0, 0]);
    // The live line was written over itself, and never went beyond the last column.
    assert!(end.lines().filter(|line| line.contains(" p99 ")).count() <= 1, "{end}");
}

#[test]
fn ctrl_c_ends_it_and_all_that_it_has_started() {
    let mut demo = Terminal::open(&["demo"], &[]);
    demo.until(PATIENCE, &["requests  "]);
    let redis = has_redis().then(|| own_redis(&demo));
    demo.signal(Signal::SIGINT);
    assert_eq!(demo.ended(PATIENCE), Some(0), "{}", demo.shown());
    assert!(demo.shown().contains("with Forebay"), "{}", demo.shown());
    redis.into_iter().for_each(is_gone);
}

#[test]
fn its_redis_dies_with_it_however_it_ends() {
    if !has_redis() {
        return eprintln!("skipped: this machine has no redis-server");
    }
    let mut demo = Terminal::open(&["demo"], &[]);
    demo.until(PATIENCE, &["page"]);
    let redis = own_redis(&demo);
    demo.signal(Signal::SIGKILL);
    assert_eq!(demo.ended(PATIENCE), None);
    is_gone(redis);
}

#[test]
fn without_a_redis_it_shows_the_rest() {
    let said = Said::of(&run(&["demo", "--seconds", "5"], &[("FOREBAY_STORE", "memory")], None));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    assert!(
        said.out.contains("the memory of this process") && !said.out.contains("Redis is"),
        "{}",
        said.out
    );
    assert!(!said.out.contains('\u{1b}') && !said.out.contains('\r'), "{}", said.out);
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
}

#[test]
fn programs_are_told_a_document_a_line() {
    let said = Said::of(&run(&["demo", "--seconds", "5", "--json"], &[("FOREBAY_STORE", "memory")], None));
    let documents: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = documents.iter().map(|document| document["what"].as_str().unwrap()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"opening"), Some(&"end")), "{}", said.out);
    assert!(kinds.contains(&"live") && kinds.contains(&"event"), "{}", said.out);
    let end = documents.last().unwrap();
    assert!(end["with"]["origin_calls"].as_u64() < end["without"]["origin_calls"].as_u64(), "{end}");
}

#[test]
fn no_color_leaves_the_colours_out() {
    for (no_color, is_coloured) in [("", true), ("1", false)] {
        let mut demo = Terminal::open(
            &["demo", "--seconds", "5"],
            &[("NO_COLOR", no_color), ("FOREBAY_STORE", "memory")],
        );
        assert_eq!(demo.ended(PATIENCE), Some(0));
        assert_eq!(demo.raw().contains("\u{1b}[1m"), is_coloured, "{no_color:?}: {}", demo.raw());
    }
}
