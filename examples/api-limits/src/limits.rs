//! Who is asking, and how much they may: everything in the program that limits.

use anyhow::Result;
use forebay::{
    Forebay,
    http::{Addresses, CallerLayer, HeaderStyle, RateLimitLayer, Whose},
    limiter::{Mode, Tiers},
};

use crate::keys;

pub(crate) struct Limits {
    /// Finds out who is asking; lies in front of the others.
    pub(crate) callers: CallerLayer,
    /// Takes from the quota of the API key, or of the address where none is sent.
    pub(crate) api: RateLimitLayer,
    /// Takes from that of the address, whatever key is sent: passwords are guessed no faster with many keys.
    pub(crate) sign_in: RateLimitLayer,
}

impl Limits {
    /// Limits over what `forebay` is open on, where `trusted_proxies` are believed about addresses.
    pub(crate) fn new(forebay: &Forebay, trusted_proxies: &[String]) -> Result<Self> {
        // Out of the box: free 10 a minute and 100 an hour, basic 30 and 500, pro 60 and 2,000.
        let api = forebay.limiter("api", Tiers::default()).build()?;
        // Bare addresses are in the tier `free`. A log, as it lets the sixth in the very instant that it may.
        let sign_in = Tiers::new().tier("free", ["5/minute"])?;
        let sign_in = forebay.limiter("sign-in", sign_in).mode(Mode::Log).build()?;

        let layer = |limiter| RateLimitLayer::new(limiter).headers(HeaderStyle::Draft11);
        Ok(Self {
            callers: CallerLayer::new(Addresses::new().trusted(trusted_proxies)?).lookup(keys::identity),
            api: layer(api),
            sign_in: layer(sign_in).by([Whose::address()]),
        })
    }
}
