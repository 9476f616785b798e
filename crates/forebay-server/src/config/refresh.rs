//! When a space has its values loaded again: `refresh`, and what goes with it.

use forebay::cache::Refresh;
use serde::Deserialize;

/// What is best where nothing is known, by the paper that `early` is from.
const BETA: f64 = 1.0;

/// A fifth of a life is longer than a load takes, unless that life is short.
const AHEAD: f64 = 0.2;

/// The names of the policies.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RefreshName {
    Never,
    Stale,
    Early,
    Ahead,
}

impl RefreshName {
    /// The policy with what else is set; the library checks the numbers.
    pub(super) fn policy(self, beta: Option<f64>, ahead: Option<f64>) -> Refresh {
        match self {
            Self::Never => Refresh::Never,
            Self::Stale => Refresh::Stale,
            Self::Early => Refresh::Early { beta: beta.unwrap_or(BETA) },
            Self::Ahead => Refresh::Ahead(ahead.unwrap_or(AHEAD)),
        }
    }
}

/// Refuses a number of another policy than the one of the space, which would do nothing.
pub(super) fn check(name: Option<RefreshName>, beta: Option<f64>, ahead: Option<f64>) -> Result<(), String> {
    let idle = |setting: &str, policy: &str| {
        Err(format!("{setting}` does nothing without `refresh = \"{policy}\"`; set that, or leave it out"))
    };
    if beta.is_some() && name != Some(RefreshName::Early) {
        return idle("beta", "early");
    }
    if ahead.is_some() && name != Some(RefreshName::Ahead) {
        return idle("ahead", "ahead");
    }
    Ok(())
}
