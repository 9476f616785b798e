//! Forebay's limiter over Redis, in each of its modes.

use std::fmt;

use contest::{Check, Window, Windows};
pub use forebay::limiter::Mode;
use forebay::{
    Forebay, Subject,
    limiter::{Decision, Limiter, Tiers},
};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

pub(crate) const TIER: &str = "free";

/// The most that a log of every call has room for.
const LONGEST_LOG: u64 = 10_000;

/// All modes.
pub const MODES: [Mode; 4] = [Mode::Strict, Mode::Sliding, Mode::Gcra, Mode::Log];

/// The name of `mode` in the tables.
pub fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Sliding => "Forebay `sliding`",
        Mode::Gcra => "Forebay `gcra`",
        Mode::Log => "Forebay `log`",
        _ => "Forebay `strict`",
    }
}

/// One process with a limiter.
pub struct Limits {
    pub(crate) limiter: Limiter,
    mode: Mode,
    cost: u64,
    /// Whose connection it is.
    _forebay: Forebay,
}

impl Limits {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str, mode: Mode, windows: Windows) -> Self {
        Self::of(runtime, url, mode, windows.each(), 1)
    }

    /// A process with these windows, where every check has this cost.
    ///
    /// # Panics
    ///
    /// Panics as [`Limits::new`], and if the mode cannot count them.
    pub fn of(runtime: &Runtime, url: &str, mode: Mode, windows: &[Window], cost: u64) -> Self {
        let limit = |window: &Window| match mode {
            Mode::Log => window.limit.min(LONGEST_LOG),
            _ => window.limit,
        };
        let windows = windows.iter().map(|window| forebay::limiter::Window::new(limit(window), window.span));
        let windows: Vec<_> = windows.collect::<Result<_, _>>().expect("the windows can be kept");
        let tiers = Tiers::new().tier(TIER, windows).expect("the tier is well-formed");
        let forebay = runtime.block_on(crate::connect(url));
        let limiter = forebay.limiter(policy(mode), tiers).mode(mode).build();
        Self { limiter: limiter.expect("the mode can count them"), mode, cost, _forebay: forebay }
    }

    /// What its keys have in their names.
    pub fn policy(&self) -> &str {
        self.limiter.policy()
    }
}

fn policy(mode: Mode) -> &'static str {
    match mode {
        Mode::Sliding => "sliding",
        Mode::Gcra => "gcra",
        Mode::Log => "log",
        _ => "strict",
    }
}

impl Check for Limits {
    fn name(&self) -> &'static str {
        name(self.mode)
    }

    fn check(&self, subject: String) -> BoxFuture<'static, bool> {
        let (limiter, cost) = (self.limiter.clone(), self.cost);
        Box::pin(async move {
            let decision = limiter.check_cost(&Subject::user(subject), TIER, cost).await;
            matches!(decision, Decision::Allowed(_))
        })
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").field("mode", &self.mode).field("cost", &self.cost).finish_non_exhaustive()
    }
}
