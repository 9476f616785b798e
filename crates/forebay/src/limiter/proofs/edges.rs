//! Limits, windows and rates at the ends of their ranges.

use super::{
    histories::{mean, uniform},
    laws::MODES,
    model::{Rule, rule},
    scripts::Scripts,
    trial::{
        Step::{Check, Wait},
        Trial,
    },
};
use crate::limiter::Mode;

const YEAR: i64 = 366 * 86_400_000;

fn trial(mode: Mode, rules: &[Rule]) -> Trial {
    Trial::new(Scripts::shipped(mode), &[rules.to_vec()])
}

/// How many of `calls` single checks, `gap` apart, are admitted.
fn admitted(trial: &mut Trial, calls: i64, gap: i64) -> usize {
    let admitted = |trial: &mut Trial| {
        let verdict = trial.check(1).unwrap();
        trial.scripts.step(gap);
        verdict.admitted
    };
    (0..calls).filter(|_| admitted(trial)).count()
}

/// R24: a limit of one allows one.
#[test]
fn odd_windows_keep_every_law_down_to_a_limit_of_one() {
    for mode in MODES {
        for (limit, window) in [(1, 1), (3, 1), (1, 7_000), (2, 1_001), (3, YEAR), (1, YEAR), (5, 9)] {
            for mut history in mean(&[rule(limit, window)]) {
                // A key's own time ends after 34 years.
                history.truncate(if window == YEAR { 40 } else { usize::MAX });
                trial(mode, &[rule(limit, window)]).play(&history).unwrap();
            }
        }
    }
}

/// R2, R10: the largest limits, and more of them a millisecond than a rate in tokens a millisecond could tell.
#[test]
fn the_largest_limits_are_counted_to_the_token() {
    let large = 1 << 40;
    for (mode, limit, window) in [
        (Mode::Strict, large, YEAR),
        (Mode::Strict, 1_000_000_000_000, 1),
        (Mode::Sliding, large, 8_191),
        (Mode::Sliding, 284_000, YEAR),
        (Mode::Sliding, 1_000_000_000_000, 1),
        (Mode::Gcra, large, 8_191),
        (Mode::Gcra, 284_000, YEAR),
        (Mode::Gcra, 1_000_000_000_000, 1),
        (Mode::Strict, u32::MAX.into(), 1_000),
        (Mode::Strict, i64::from(u32::MAX) + 1, 1_000),
    ] {
        let mut trial = trial(mode, &[rule(limit, window)]);
        let steps = [Check(limit - 1), Check(1), Check(1), Wait(window / 3), Check(1), Check(limit / 3)];
        let again = [Wait(window + 1), Check(limit), Check(1), Wait(2 * window), Check(limit), Check(1)];
        trial
            .play(&steps)
            .and_then(|()| trial.play(&again))
            .unwrap_or_else(|broken| panic!("{mode:?} {limit}: {broken}"));
        assert!(trial.admitted.len() >= 3, "{mode:?} {limit}");
    }
}

/// R14: exactly the burst, and then what the rate pays off.
#[test]
fn a_fresh_key_admits_exactly_its_burst() {
    for mode in MODES {
        assert_eq!(admitted(&mut trial(mode, &[rule(5, 10_000)]), 20, 0), 5, "{mode:?}");
    }
    let smooth = Rule { window: 60_000, limit: 100, burst: 5 };
    let mut trial = trial(Mode::Gcra, &[smooth]);
    assert_eq!(admitted(&mut trial, 20, 0), 5);
    trial.scripts.step(600);
    assert_eq!(admitted(&mut trial, 20, 0), 1);
}

/// R15, R36: 100 a minute, asked for without pause.
#[test]
fn a_trailing_window_holds_the_limit_or_what_the_mode_says_beyond() {
    for (mode, most) in [(Mode::Strict, 100), (Mode::Log, 100), (Mode::Sliding, 199), (Mode::Gcra, 200)] {
        let mut trial = trial(mode, &[rule(100, 60_000)]);
        let burst = |trial: &mut Trial| admitted(trial, 110, 0);
        let mut widest = 0;
        trial.scripts.step(-60_001);
        let at_the_end = burst(&mut trial);
        for gap in [59_999, 2, 59_998, 1, 1] {
            trial.scripts.step(gap);
            widest = widest.max(burst(&mut trial));
        }
        assert!(at_the_end <= most && widest <= most, "{mode:?}: {at_the_end}, {widest}");
    }
}

/// Ten at 0:59 and ten at 1:01.
#[test]
fn a_full_burst_on_either_side_of_the_minute_is_admitted_once() {
    for mode in MODES {
        let mut trial = trial(mode, &[rule(10, 60_000)]);
        trial.play(&[Check(1), Wait(59_000)]).unwrap();
        let before = admitted(&mut trial, 10, 0);
        trial.scripts.step(2_000);
        let after = admitted(&mut trial, 10, 0);
        // In these two the first call has left the window by then, or has been paid off.
        let both = if matches!(mode, Mode::Log | Mode::Gcra) { 10 } else { 9 };
        assert_eq!(before + after, both, "{mode:?}");
    }
}

/// R7: very fast rates are limited, and no life is rounded down to nothing.
#[test]
fn ten_thousand_a_second_are_limited_for_two_seconds() {
    for (mode, most) in [(Mode::Strict, 20_000), (Mode::Sliding, 20_000), (Mode::Gcra, 30_000)] {
        let scripts = Scripts::shipped(mode);
        let mut admitted = 0;
        for _ in 0..2_000 {
            let asked = (0..4).map(|_| scripts.ask(4, true, &[rule(10_000, 1_000)]).unwrap());
            admitted += asked.filter(|verdict| verdict.admitted).count() * 4;
            scripts.step(1);
        }
        assert!((10_000..=most).contains(&admitted), "{mode:?} admitted {admitted}");
    }
}

/// R8: one in seven seconds for seventy seconds is exactly ten.
#[test]
fn a_rate_below_one_a_second_loses_no_fraction() {
    for mode in [Mode::Log, Mode::Gcra] {
        assert_eq!(admitted(&mut trial(mode, &[rule(1, 7_000)]), 700, 100), 10, "{mode:?}");
    }
    // Each comes back a tenth of the window later than exact.
    assert_eq!(admitted(&mut trial(Mode::Strict, &[rule(1, 7_000)]), 770, 100), 10);
}

/// R29: who is refused is never told to come back at once.
#[test]
fn a_refusal_never_names_the_present() {
    for mode in MODES {
        let mut trial = trial(mode, &[rule(10, 1_000)]);
        trial.check(10).unwrap();
        for _ in 0..1_300 {
            let verdict = trial.peek(1).unwrap();
            assert!(verdict.admitted || verdict.retry >= 1, "{mode:?}: {verdict:?}");
            trial.scripts.step(1);
        }
    }
}

/// Arrivals at the limit's own rate or above it.
#[test]
fn sliding_admits_at_most_one_beyond_the_limit_of_even_arrivals() {
    for (limit, window) in [(10, 1_000), (7, 1_001), (60, 60_000), (1, 100)] {
        for share in [100, 130, 200, 700] {
            let rule = rule(limit, window);
            let mut trial = trial(Mode::Sliding, &[rule]);
            trial.play(&uniform(rule, share, limit * 10)).unwrap();
            let list = trial.model.list(rule);
            let most = list.newest_first().map(|taken| list.trailing(window, taken.at)).max().unwrap();
            assert!(most <= limit + 1, "{limit} in {window} at {share} %: {most}");
        }
    }
}
