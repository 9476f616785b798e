//! The servers of the rig as tests use them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use forebay_rig::{Redis, Reply};
use tempfile::TempDir;

const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_server_dies_with_its_process_even_if_that_is_killed() {
    // What a killed process leaves in its folder for temporary files goes with this one.
    let folder = TempDir::new().unwrap();
    let (mut holder, server) = hold(&folder);
    assert!(alive(&server));
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!((0..500).any(|_| {
        thread::sleep(Duration::from_millis(10));
        !alive(&server)
    }));
}

#[test]
fn a_server_outlives_the_thread_that_started_it() {
    let server = thread::spawn(Redis::start).join().unwrap();
    // Gives a signal the time to arrive.
    thread::sleep(Duration::from_millis(50));
    assert!(server.answers(SOON));
}

#[test]
fn a_dropped_server_is_gone() {
    let server = Redis::start();
    let pid = server.pid().to_string();
    assert!(alive(&pid));
    drop(server);
    assert!(!alive(&pid));
}

#[test]
fn a_killed_server_stays_dead_until_it_is_restarted_empty_in_its_place() {
    let server = Redis::start();
    let (url, pid) = (server.url(), server.pid());
    assert_eq!(server.call(&["SET", "key", "value"]), "OK");
    server.kill();
    assert!(!server.answers(SOON));
    server.restart();
    assert_eq!((server.url(), server.call(&["DBSIZE"])), (url, "0".into()));
    assert_ne!(server.pid(), pid);
}

#[test]
fn a_paused_server_is_silent_until_it_is_resumed() {
    let server = Redis::start();
    server.pause();
    assert!(!server.answers(Duration::from_millis(200)));
    server.resume();
    assert!(server.answers(SOON));
}

#[test]
fn a_paused_server_can_be_restarted() {
    let server = Redis::start();
    server.pause();
    server.restart();
    assert!(server.answers(SOON));
}

#[test]
fn arguments_reach_the_server() {
    let server = Redis::with(&["--maxmemory", "3mb"]);
    assert_eq!(server.call(&["CONFIG", "GET", "maxmemory"]), "maxmemory\n3145728");
}

#[test]
fn keys_that_would_stay_for_ever_are_told() {
    let server = Redis::start();
    server.call(&["SET", "short", "value", "EX", "60"]);
    server.call(&["SET", "forever", "value"]);
    assert_eq!(server.keys_without_expiry(), ["forever"]);
}

#[test]
fn at_a_pace_keys_age_by_what_is_told_and_not_by_the_clock() {
    let server = Redis::start();
    let mut pace = server.pace("*:mine:*");
    for key in ["a:mine:1", "a:other:1"] {
        server.call(&["SET", key, "value", "PX", "60000"]);
    }
    pace.pass(Duration::ZERO);
    thread::sleep(Duration::from_millis(30));
    pace.pass(Duration::from_millis(100));
    let [mine, other] = ["a:mine:1", "a:other:1"].map(|key| left(&server, key));
    assert!(mine > 59_900 - other.abs_diff(60_000) && mine <= 59_900, "{mine} {other}");
    assert!(pace.slack() >= Duration::from_millis(30));
    pace.pass(Duration::from_millis(59_900));
    assert_eq!(server.call(&["EXISTS", "a:mine:1", "a:other:1"]), "1");
}

#[test]
fn at_a_pace_a_key_that_was_written_anew_ages_from_then_on() {
    let server = Redis::start();
    let mut pace = server.pace("*");
    server.call(&["SET", "key", "value", "PX", "60000"]);
    pace.pass(Duration::from_secs(59));
    server.call(&["SET", "key", "value", "PX", "60000"]);
    server.call(&["SET", "forever", "value"]);
    pace.pass(Duration::from_secs(59));
    assert!((1..=1_000).contains(&left(&server, "key")));
    assert_eq!(pace.without_expiry(), ["forever"]);
    pace.end();
    assert_eq!(server.call(&["KEYS", "*"]), "forever");
}

#[test]
fn a_clock_of_the_server_moves_when_it_is_told_to() {
    let (server, clock) = Redis::with_clock();
    let times = || server.call(&["TIME"]).replace('\n', ".");
    let script = || server.call(&["EVAL", "return redis.call('TIME')", "0"]).replace('\n', ".");
    let began = times();
    thread::sleep(Duration::from_millis(30));
    assert_eq!(times(), began);
    server.call(&["SET", "key", "value", "PX", "1000"]);
    clock.advance(Duration::from_millis(999));
    assert_eq!((times(), left(&server, "key")), (script(), 1));
    // A key lives to the end of its last millisecond.
    clock.advance(Duration::from_millis(2));
    assert_eq!(server.call(&["EXISTS", "key"]), "0");
    clock.step_back(Duration::from_millis(1001));
    assert_eq!(times(), began);
}

#[test]
fn a_running_clock_goes_on_from_where_it_is_moved_to() {
    let (server, clock) = Redis::with_running_clock();
    let second = || server.call(&["TIME"]).lines().next().unwrap().parse::<u64>().unwrap();
    let began = second();
    server.call(&["SET", "key", "value", "EX", "600"]);
    clock.step_back(Duration::from_mins(15));
    assert!(second() < began - 800);
    assert_eq!(server.call(&["EXISTS", "key"]), "1");
    clock.advance(Duration::from_mins(30));
    let later = second();
    assert!(later > began + 800);
    assert_eq!(server.call(&["EXISTS", "key"]), "0");
    thread::sleep(Duration::from_millis(1_100));
    assert!(second() > later);
}

#[test]
fn a_server_has_its_clock_after_a_restart() {
    let (server, clock) = Redis::with_clock();
    clock.advance(Duration::from_hours(1));
    let time = server.call(&["TIME"]);
    server.restart();
    assert_eq!(server.call(&["TIME"]), time);
}

#[test]
fn bytes_are_sent_and_answered_as_they_are() {
    let server = Redis::start();
    let bytes = b"\r\n\0\xff$-1\r\n";
    assert_eq!(server.raw(&[b"SET", bytes, bytes]), Reply::Status("OK".into()));
    assert_eq!(server.raw(&[b"GET", bytes]), Reply::Bytes(bytes.into()));
    assert!(server.call(&["INCR"]).starts_with("-ERR wrong number of arguments"));
}

#[test]
fn calls_are_counted_by_command() {
    let server = Redis::start();
    let before = (server.script_calls(), server.calls("get"), server.commands_processed());
    server.call(&["EVAL", "return redis.call('GET', KEYS[1])", "1", "key"]);
    let hash = server.call(&["SCRIPT", "LOAD", "return 1"]);
    server.call(&["EVALSHA", &hash, "0"]);
    assert_eq!((server.script_calls(), server.calls("GET")), (before.0 + 2, before.1 + 1));
    assert_eq!(server.calls("script|load"), 1);
    assert!(server.commands_processed() >= before.2 + 3);
}

#[test]
fn the_time_in_scripts_is_counted() {
    let server = Redis::start();
    server.call(&["EVAL", "for n = 1, 100000 do redis.sha1hex('') end", "0"]);
    let counted = server.script_time();
    assert_eq!(counted, server.time_in("eval"));
    // Each of them takes a part of a microsecond at least.
    assert!((Duration::from_millis(2)..SOON).contains(&counted), "{counted:?}");
}

#[test]
fn a_command_and_the_end_of_its_connection_are_two_reads() {
    let server = Redis::start();
    let before = server.reads();
    server.call(&["PING"]);
    // The end of the first question, PING and its end, and the second question.
    assert_eq!(server.reads(), before + 4);
}

#[test]
fn a_key_has_a_size_while_it_is_there() {
    let server = Redis::start();
    server.call(&["SET", "key", &"x".repeat(1000)]);
    let bytes = server.bytes_of("key").unwrap();
    assert!((1000..2000).contains(&bytes), "{bytes}");
    assert_eq!(server.bytes_of("other"), None);
}

/// The remaining life of a key in milliseconds.
fn left(server: &Redis, key: &str) -> u64 {
    server.call(&["PTTL", key]).parse().unwrap()
}

/// A process that holds a server, and the process id of that server.
fn hold(temporary: &TempDir) -> (Child, String) {
    let mut hold = Command::new(env!("CARGO_BIN_EXE_forebay-rig-hold"));
    let mut holder = hold.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut server = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut server).unwrap();
    (holder, server.trim_end().to_owned())
}

/// Whether the process runs. One that has ended may wait long to be reaped by whom it was left to.
fn alive(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}
