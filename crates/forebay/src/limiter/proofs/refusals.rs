//! A refusal takes nothing, in any window, however long somebody goes on asking.

use super::{
    laws::MODES,
    model::{Rule, rule},
    scripts::Scripts,
    server::{Reply, Server},
    trial::Trial,
};

const MINUTE: Rule = Rule { window: 60_000, limit: 2, burst: 2 };
const HOUR: Rule = Rule { window: 3_600_000, limit: 100, burst: 100 };
const CALLS: i64 = 50;

/// R31, R32.
#[test]
fn fifty_calls_in_a_minute_that_allows_two_take_two_of_the_hour() {
    for mode in MODES {
        let mut trial = Trial::new(Scripts::shipped(mode), &[vec![MINUTE, HOUR]]);
        let verdicts: Vec<_> = (0..CALLS).map(|_| trial.check(1).unwrap()).collect();
        let admitted = verdicts.iter().filter(|verdict| verdict.admitted).count();
        let [(minute, _), (hour, _)] = verdicts.last().unwrap().windows[..] else { panic!("two windows") };
        assert_eq!((admitted, minute, hour), (2, 2, 2), "{mode:?}");
    }
}

/// What is copied everywhere: a sorted set for each window, counted after the call was written down. In a minute that
/// allows two, fifty calls take fifty of the hour.
#[test]
fn the_usual_snippet_takes_fifty_of_the_hour() {
    let server = Server::new();
    let (mut admitted, mut hour) = (0, 0);
    for call in 0..CALLS {
        let counts =
            [("minute", MINUTE), ("hour", HOUR)].map(|(key, rule)| snippet(&server, key, rule, call));
        admitted += i64::from(counts[0] <= MINUTE.limit && counts[1] <= HOUR.limit);
        hour = counts[1];
    }
    assert_eq!((admitted, hour), (2, 50));
}

fn snippet(server: &Server, key: &str, rule: Rule, call: i64) -> i64 {
    let now = server.now() + call;
    server.command(&["ZREMRANGEBYSCORE", key, "-inf", &(now - rule.window).to_string()]);
    server.command(&["ZADD", key, &now.to_string(), &format!("{now}-{call}")]);
    server.command(&["PEXPIRE", key, &rule.window.to_string()]);
    match server.command(&["ZCARD", key]) {
        Reply::Integer(count) => count,
        other => panic!("{other:?}"),
    }
}

/// R25: a hundred refusals push the return of the quota not one millisecond back.
#[test]
fn a_hundred_refusals_do_not_delay_the_next_admission() {
    for mode in MODES {
        let mut trial = Trial::new(Scripts::shipped(mode), &[vec![rule(3, 10_000)]]);
        assert!((0..3).all(|_| trial.check(1).unwrap().admitted));
        let first = trial.check(1).unwrap();
        for asked in 1..=100 {
            trial.scripts.step(10);
            assert_eq!(trial.check(1).unwrap().retry, first.retry - 10 * asked, "{mode:?}");
        }
        trial.scripts.step(first.retry - 1_000);
        assert!(trial.check(1).unwrap().admitted, "{mode:?}");
    }
}

/// R52: whoever only asks takes nothing, and does not begin a key.
#[test]
fn a_peek_takes_nothing_and_writes_nothing() {
    for mode in MODES {
        let mut trial = Trial::new(Scripts::shipped(mode), &[vec![rule(3, 1_000)]]);
        assert!((0..10).all(|_| trial.peek(3).unwrap().admitted));
        assert_eq!(trial.scripts.entry(), None);
        trial.check(2).unwrap();
        let entry = trial.scripts.entry();
        assert!((0..10).all(|_| !trial.peek(2).unwrap().admitted && trial.peek(1).unwrap().admitted));
        assert_eq!(trial.scripts.entry(), entry, "{mode:?}");
    }
}
