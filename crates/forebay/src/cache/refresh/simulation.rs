//! How many loads one expiry costs a hot key, in a model that can be worked out on paper: readers come at random, loads
//! take a fixed time, nobody has a lease, and every read that finds nothing, or is early, loads.

use std::time::Duration;

use crate::{cache::Refresh, dice::Dice};

const RATE: f64 = 1_000.0;
const LOAD: f64 = 0.5;
const LIFE: f64 = 60.0;

/// Where the simulation of a period begins: before it, one read in 10^5 is early.
const FROM: f64 = 12.0;

/// Whether a load keeps others from loading.
#[derive(Clone, Copy, PartialEq)]
enum Lease {
    None,
    Single,
}

/// The loads of one period: those of all readers who come before its first load has ended.
fn period(refresh: Refresh, lease: Lease, dice: &Dice) -> u32 {
    let beta = if let Refresh::Early { beta } = refresh { beta } else { 0.0 };
    let (life, load) = (Duration::from_secs_f64(LIFE), Duration::from_secs_f64(LOAD));
    let (mut now, mut loads, mut ends) = (-FROM * beta * LOAD, 0, f64::INFINITY);
    loop {
        now += -f64::midpoint(1.0, dice.swing()).ln() / RATE;
        if now >= ends {
            return loads;
        }
        let margin = refresh.margin(life, load, refresh.luck(dice)).as_secs_f64();
        if now + margin >= 0.0 && (loads == 0 || lease == Lease::None) {
            loads += 1;
            ends = ends.min(now + LOAD);
        }
    }
}

/// The mean number of loads in a period.
fn loads(refresh: Refresh, lease: Lease, periods: u32) -> f64 {
    let dice = Dice::seeded(7);
    f64::from((0..periods).map(|_| period(refresh, lease, &dice)).sum::<u32>()) / f64::from(periods)
}

/// Asserts that the mean of so many periods is within four standard errors of what it should be.
fn is_about(measured: f64, mean: f64, deviation: f64, periods: u32) {
    let error = 4.0 * deviation / f64::from(periods).sqrt();
    println!("{measured:.3} loads in a period, {mean:.3} on paper, give or take {error:.3}");
    assert!((measured - mean).abs() < error, "{measured}, not {mean}");
}

#[test]
fn unprotected_a_period_costs_all_reads_of_a_load_time() {
    let (mean, periods) = (1.0 + RATE * LOAD, 400);
    is_about(loads(Refresh::Never, Lease::None, periods), mean, (RATE * LOAD).sqrt(), periods);
}

// With H the expected number of early reads until the first of them, an exponential variate of mean 1, there are
// H (e^(1/beta) - 1) more within a load time, on average, and Poisson about that.
#[test]
fn by_chance_alone_a_period_costs_e_to_the_inverse_of_beta() {
    for (beta, periods) in [(1.0_f64, 1_000), (2.0, 500), (0.5, 2_000)] {
        let more = (1.0 / beta).exp() - 1.0;
        let measured = loads(Refresh::Early { beta }, Lease::None, periods);
        is_about(measured, 1.0 + more, (more + more * more).sqrt(), periods);
    }
}

#[test]
fn under_a_lease_a_period_costs_one_load() {
    for refresh in [Refresh::Never, Refresh::Early { beta: 1.0 }, Refresh::Ahead(0.1)] {
        assert!((loads(refresh, Lease::Single, 50) - 1.0).abs() < f64::EPSILON);
    }
}
