//! How a limiter counts.

/// How a limiter counts: what it promises, and what that costs.
///
/// In every mode a refused call takes nothing, in any window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// A window is cut into ten, and the whole of the tenth that leaves it still counts: never more than the
    /// limit in any trailing window, and a quota that comes back up to a tenth of the window late. For
    /// everything. Default.
    #[default]
    Strict,
    /// A window counts itself and the share of the one before that is still to come: about the limit
    /// where calls come evenly (fewer of a small one), less than twice the limit in a trailing window at worst. The cheapest, for very many subjects.
    Sliding,
    /// Every call is remembered by its instant: exactly the limit in any trailing window. For limits of at most
    /// 10,000.
    Log,
    /// What is taken is paid off evenly (the generic cell rate algorithm, ITU-T I.371): at most the burst and
    /// `limit` × `span` / `length` in any span. For smooth spacing.
    Gcra,
}

impl Mode {
    /// What its keys end with: what one mode has written no other can read, so that during a change of the mode
    /// each counts by itself.
    pub(super) fn variant(self) -> Option<&'static str> {
        match self {
            Self::Strict => None,
            Self::Sliding => Some("sw"),
            Self::Log => Some("log"),
            Self::Gcra => Some("gcra"),
        }
    }

    /// For how long something counts in a window of `length` ms that was taken just now.
    pub(super) fn life(self, length: u64) -> u64 {
        match self {
            Self::Strict => length + length.div_ceil(10),
            Self::Sliding => 2 * length,
            Self::Log | Self::Gcra => length,
        }
    }
}
