//! Whose quota a request is taken from.

use std::{fmt, sync::Arc};

use http::request::Parts;

use super::{caller::Caller, identity::Identity};
use crate::subject::Subject;

type Find = Arc<dyn Fn(&Parts) -> Option<Identity> + Send + Sync>;

/// Names whose quota a request is taken from, for a [`RateLimitLayer`](super::RateLimitLayer).
#[derive(Clone)]
pub struct Whose(Kind);

#[derive(Clone)]
enum Kind {
    Caller,
    Address,
    Network(u8),
    Found(Find),
}

/// A quota that a request is taken from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) subject: Subject,
    pub(super) tier: Arc<str>,
}

impl Whose {
    /// The caller's own, in the caller's tier.
    #[must_use]
    pub const fn caller() -> Self {
        Self(Kind::Caller)
    }

    /// That of the caller's address, whoever is asking, in the tier of bare addresses.
    #[must_use]
    pub const fn address() -> Self {
        Self(Kind::Address)
    }

    /// That of the network of `prefix` bits that the caller's IPv6 address lies in, in the tier of bare
    /// addresses. An IPv4 address stands for itself.
    #[must_use]
    pub const fn network(prefix: u8) -> Self {
        Self(Kind::Network(prefix))
    }

    /// That of whom `find` reads from a request's head, such as the caller's tenant; nobody's where it finds none.
    /// Without a tier of its own it has the caller's.
    #[must_use]
    pub fn found(find: impl Fn(&Parts) -> Option<Identity> + Send + Sync + 'static) -> Self {
        Self(Kind::Found(Arc::new(find)))
    }

    fn ask(&self, head: &Parts, caller: &Caller) -> Option<Asked> {
        let address = |subject| Asked { subject, tier: caller.address_tier().into() };
        Some(match &self.0 {
            Kind::Caller => Asked { subject: caller.subject().clone(), tier: caller.tier().into() },
            Kind::Address => address(caller.address()),
            Kind::Network(prefix) => address(caller.network(*prefix)),
            Kind::Found(find) => {
                let Identity { subject, tier } = find(head)?;
                Asked { subject, tier: tier.unwrap_or_else(|| caller.tier().into()) }
            }
        })
    }

    /// All quotas that a request is taken from, in this order; a subject that comes twice is decided by the windows
    /// of both tiers.
    pub(super) fn all(whose: &[Self], head: &Parts) -> Vec<Asked> {
        let caller = Caller::of(&head.extensions);
        whose.iter().filter_map(|whose| whose.ask(head, &caller)).collect()
    }
}

impl fmt::Debug for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Caller => "caller",
            Kind::Address => "address",
            Kind::Network(prefix) => return write!(f, "network of {prefix} bits"),
            Kind::Found(_) => "found",
        })
    }
}
