//! When a value is loaded again although there is still one to hand out.

#[cfg(test)]
mod simulation;

use std::{sync::Arc, time::Duration};

use super::{
    entry::Entry,
    flights::Arrival,
    id::Id,
    inner::Inner,
    leader::{Goal, Leader},
};
use crate::dice::Dice;

/// Beyond so many mean load times a draw falls with a probability of e^-20, about 2 in 10^9.
const FURTHEST: f64 = 20.0;

/// How long process memory answers as before once somebody of this process has set out to replace a value: whether
/// another process is at it already is not asked more often than this.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// What is done about a value whose fresh life is over, or will be soon.
///
/// With all but [`Never`](Self::Never) a value past its fresh life is handed out as long as it is kept, and loaded again
/// in the background. [`Early`](Self::Early) and [`Ahead`](Self::Ahead) load it again before that, so that a value that
/// is asked for often enough is always fresh. One load serves all processes: who finds it done takes its value, who
/// finds it running goes on with the value at hand.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Refresh {
    /// It is loaded again while the caller waits; a stale value is for failures.
    #[default]
    Never,
    /// A stale value is handed out, and loaded again in the background. Needs a `stale_for` above zero.
    Stale,
    /// Also before it is stale, by chance: the more likely the nearer the end is, measured in the time that its loads
    /// take. Needs no guess of what is early enough.
    ///
    /// A read does so if `-beta * delta * ln(u)` is at least the fresh life that is left, where `delta` is the time that
    /// loads of the value take, smoothed, and `u` is uniform in (0, 1]; never in the first half of the fresh life. From
    /// Vattani, Chierichetti and Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015.
    Early {
        /// Above 0 and finite: 1 is the optimum of the paper, more is earlier.
        beta: f64,
    },
    /// Also before it is stale: once less than this share of its fresh life is left, above 0 and below 1. Choose
    /// more of it than a load takes.
    Ahead(f64),
}

/// How lucky one caller is: an exponential variate of mean 1, the same for all that the caller finds on its way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Luck(f64);

impl Refresh {
    /// Whether a stale value is an answer.
    pub(crate) fn serves_stale(self) -> bool {
        self != Self::Never
    }

    /// Whether fresh values are loaded again.
    pub(crate) fn is_early(self) -> bool {
        matches!(self, Self::Early { .. } | Self::Ahead(_))
    }

    /// Throws for one caller.
    pub(crate) fn luck(self, dice: &Dice) -> Luck {
        match self {
            Self::Early { .. } => Luck(-f64::midpoint(1.0, dice.swing()).ln()),
            _ => Luck::default(),
        }
    }

    /// How long before the end of a fresh `life` a caller of this `luck` has the value loaded again.
    pub(crate) fn margin(self, life: Duration, load_time: Duration, luck: Luck) -> Duration {
        match self {
            Self::Never | Self::Stale => Duration::ZERO,
            Self::Early { beta } => share(load_time, beta * luck.0).min(life / 2),
            Self::Ahead(fraction) => share(life, fraction),
        }
    }

    /// The margin of the luckiest: before it nobody needs to look.
    pub(crate) fn widest_margin(self, life: Duration, load_time: Duration) -> Duration {
        self.margin(life, load_time, Luck(FURTHEST))
    }

    /// Why the policy makes no sense, with the remedy.
    pub(crate) fn contradiction(self) -> Option<&'static str> {
        match self {
            Self::Early { beta } if !(beta > 0.0 && beta.is_finite()) => {
                Some("the beta of refresh = early must be above 0 and finite; 1 is a good one")
            }
            Self::Ahead(fraction) if !(fraction > 0.0 && fraction < 1.0) => Some(
                "the share of refresh = ahead must be above 0 and below 1; \
                 with 0.2 a value is loaded again once a fifth of its life is left",
            ),
            _ => None,
        }
    }
}

/// `factor` times `span`; what is beyond every life is as good as any.
fn share(span: Duration, factor: f64) -> Duration {
    if span.is_zero() {
        return span;
    }
    Duration::try_from_secs_f64(span.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// How long before its end anybody may have `entry` loaded again.
    pub(crate) fn widest_margin(&self, entry: &Entry<V>) -> Duration {
        let life = entry.age.saturating_add(entry.fresh_for);
        self.options.refresh.widest_margin(life, self.pace.of(entry.load_time))
    }

    /// How long before its end `entry` is to be loaded again by a caller of this `luck`, if that is now.
    pub(crate) fn due(&self, entry: &Entry<V>, luck: Luck) -> Option<Duration> {
        let refresh = self.options.refresh;
        if !refresh.is_early() || entry.is_stale() {
            return None;
        }
        let life = entry.age.saturating_add(entry.fresh_for);
        let margin = refresh.margin(life, self.pace.of(entry.load_time), luck);
        (entry.fresh_for <= margin).then_some(margin)
    }

    /// Has `id` loaded by a flight of its own that plain readers do not join, one at a time: instead of `held`, which
    /// was read at `sent`, unless by then there is another, or this one still has more than `ahead` of its fresh life.
    pub(crate) fn refresh_behind(
        self: &Arc<Self>,
        id: &Id,
        goal: Goal<V>,
        (held, sent): (Entry<V>, Arrival),
        ahead: Duration,
    ) {
        // Who stands in for what has ended is asked for; what is fresh can do without a last load.
        if !ahead.is_zero() && self.shared.context.tasks.is_stopping() {
            return;
        }
        if let Some(flight) = self.flights.refresh(&id.key, || self.new_flight(false, false)) {
            flight.offer(held, sent);
            let mut leader = Leader::new(self.clone(), flight, id.clone(), goal, false, None);
            leader.behind = true;
            leader.ahead = ahead;
            leader.spawn();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIFE: Duration = Duration::from_secs(60);

    /// How often of 100,000 callers one has a value loaded again that has `left` of a minute, and loads in a second.
    fn share_of_callers(beta: f64, left: Duration) -> f64 {
        let (dice, refresh) = (Dice::seeded(1), Refresh::Early { beta });
        let early = |_: &u32| refresh.margin(LIFE, Duration::from_secs(1), refresh.luck(&dice)) >= left;
        f64::from(u32::try_from((0..100_000).filter(early).count()).unwrap()) / 1e5
    }

    #[test]
    fn the_nearer_the_end_the_more_callers_load_early() {
        for (beta, left, expected) in [(1.0, 1, -1.0), (1.0, 3, -3.0), (2.0, 3, -1.5), (0.5, 1, -2.0)] {
            let share = share_of_callers(beta, Duration::from_secs(left));
            let expected = f64::exp(expected);
            assert!((share - expected).abs() < 0.01, "{beta}, {left} s: {share}, not {expected}");
        }
        assert!((share_of_callers(1.0, Duration::ZERO) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn what_is_ahead_is_a_share_of_the_life() {
        let ahead = Refresh::Ahead(0.25);
        assert_eq!(ahead.margin(LIFE, Duration::ZERO, Luck::default()), LIFE / 4);
        assert_eq!(ahead.widest_margin(LIFE, Duration::MAX), LIFE / 4);
    }

    #[test]
    fn before_the_widest_margin_nobody_is_early() {
        let early = Refresh::Early { beta: 1.0 };
        assert_eq!(early.widest_margin(LIFE, Duration::from_millis(500)), Duration::from_secs(10));
        assert!(share_of_callers(1.0, Duration::from_secs(20)) < f64::EPSILON);
    }

    #[test]
    fn what_takes_no_time_to_load_is_never_loaded_early() {
        let early = Refresh::Early { beta: f64::MAX };
        assert_eq!(early.margin(LIFE, Duration::ZERO, Luck(f64::INFINITY)), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn nothing_is_loaded_again_in_the_first_half_of_its_life(
            life: u64, load_time: u64, beta in f64::MIN_POSITIVE..f64::MAX, luck in 0.0..f64::MAX,
        ) {
            let (life, load_time) = (Duration::from_millis(life), Duration::from_millis(load_time));
            let margin = Refresh::Early { beta }.margin(life, load_time, Luck(luck));
            prop_assert!(margin <= life / 2);
        }
    }
}
