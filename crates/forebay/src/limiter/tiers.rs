//! The tiers of a policy as they are written down: names with windows.

use super::{mode::Mode, policy::Policy, window::Window};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
};

/// More would make a key too long to be read on every call.
const MOST_WINDOWS: usize = 8;

/// Which tiers a policy has, and the windows of each.
///
/// # Example
///
/// ```
/// use forebay::limiter::Tiers;
///
/// let tiers = Tiers::new()
///     .tier("free", ["10/minute", "100/hour"])?
///     .tier("pro", ["60/minute", "2000/hour"])?
///     .unlimited("internal")?;
/// # Ok::<(), forebay::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiers(Vec<(Name, Vec<Window>)>);

impl Tiers {
    /// Begins without a tier.
    #[must_use]
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a tier, all of whose windows must admit a call.
    ///
    /// # Errors
    ///
    /// A name that is taken or cannot be one, a text that is no window, none or more than eight windows, or two
    /// of the same length.
    pub fn tier<W>(mut self, name: &str, windows: impl IntoIterator<Item = W>) -> Result<Self, Error>
    where
        W: TryInto<Window>,
        Error: From<W::Error>,
    {
        let windows: Vec<Window> = windows
            .into_iter()
            .map(|window| window.try_into().map_err(Error::from))
            .collect::<Result<_, _>>()?;
        if windows.is_empty() {
            return Err(refused(format!("tier {name} has no window; for no limit at all call unlimited()")));
        }
        if windows.len() > MOST_WINDOWS {
            return Err(refused(format!("tier {name} has {} windows; the most are 8", windows.len())));
        }
        if let Some(window) = twice(&windows) {
            let length = window.length();
            return Err(refused(format!("tier {name} has two windows of {length:?}; keep the smaller one")));
        }
        self.add(name, windows)?;
        Ok(self)
    }

    /// Adds a tier that is never refused, nor counted.
    ///
    /// # Errors
    ///
    /// A name that is taken or cannot be one.
    pub fn unlimited(mut self, name: &str) -> Result<Self, Error> {
        self.add(name, Vec::new())?;
        Ok(self)
    }

    /// Refuses what [`Builder::build`](super::Builder::build) and
    /// [`Limiter::replace_tiers`](super::Limiter::replace_tiers) would refuse in `policy`, and changes nothing.
    ///
    /// # Errors
    ///
    /// A policy whose name cannot be part of a key, tiers without the `lowest` one, or a window that the mode
    /// cannot count.
    pub fn check(&self, policy: &str, mode: Mode, lowest: &str) -> Result<(), Error> {
        Policy::new(&Name::new(policy)?, mode, lowest, self.clone()).map(drop)
    }

    /// Tells the names of the tiers, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    fn add(&mut self, name: &str, windows: Vec<Window>) -> Result<(), Error> {
        let name = Name::new(name)?;
        if self.0.iter().any(|(other, _)| *other == name) {
            return Err(refused(format!("tier {name} is there twice; its windows belong together")));
        }
        self.0.push((name, windows));
        Ok(())
    }

    pub(super) fn into_list(self) -> Vec<(Name, Vec<Window>)> {
        self.0
    }
}

/// The tiers out of the box: free 10 a minute and 100 an hour, basic 30 and 500, pro 60 and 2,000, default 60
/// and 1,000.
impl Default for Tiers {
    fn default() -> Self {
        let tiers = [
            ("free", ["10/minute", "100/hour"]),
            ("basic", ["30/minute", "500/hour"]),
            ("pro", ["60/minute", "2000/hour"]),
            ("default", ["60/minute", "1000/hour"]),
        ];
        tiers
            .into_iter()
            .try_fold(Self::new(), |tiers, (name, windows)| tiers.tier(name, windows))
            .expect("the tiers out of the box are well-formed")
    }
}

fn twice(windows: &[Window]) -> Option<&Window> {
    windows.iter().enumerate().find_map(|(n, window)| {
        windows[..n].iter().any(|other| other.length() == window.length()).then_some(window)
    })
}

fn refused(why: String) -> Error {
    Error::new(ErrorKind::Config, why)
}
