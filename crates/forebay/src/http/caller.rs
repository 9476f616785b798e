//! Who is asking, as every layer and handler of a request sees it.

use std::{net::IpAddr, sync::Arc};

use http::Extensions;

use super::identity::Identity;
use crate::subject::Subject;

/// The caller of a request, resolved once by a [`CallerLayer`](super::CallerLayer). Cheap to clone.
///
/// With the feature `axum` it is an extractor. Where no layer is in front, that gives [`Caller::unknown`].
#[derive(Clone, Debug)]
pub struct Caller(Arc<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    subject: Subject,
    tier: Arc<str>,
    place: Place,
}

/// Where a caller is, with what holds for everybody there.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) ip: Option<IpAddr>,
    pub(super) prefix: u8,
    /// The tier of the bare address.
    pub(super) tier: Arc<str>,
    /// The tier of users and keys whose record has none.
    pub(super) identified_tier: Arc<str>,
}

impl Place {
    fn subject(&self) -> Subject {
        self.network(self.prefix)
    }

    fn network(&self, prefix: u8) -> Subject {
        self.ip.map_or_else(Subject::unknown, |ip| Subject::network(ip, prefix))
    }
}

impl Caller {
    /// Makes the caller of whom nothing is known. All of them share one subject, in the tier `free`.
    #[must_use]
    pub fn unknown() -> Self {
        let place = Place { ip: None, prefix: 64, tier: "free".into(), identified_tier: "default".into() };
        Self::at(place)
    }

    /// The caller of whom only the place is known.
    pub(super) fn at(place: Place) -> Self {
        Self(Arc::new(Parts { subject: place.subject(), tier: place.tier.clone(), place }))
    }

    /// The caller that carries a signed anonymous id.
    pub(super) fn visiting(self, id: &str) -> Self {
        let Parts { tier, place, .. } = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Parts { subject: Subject::anonymous(id), tier, place }))
    }

    /// Makes the caller at the same address who has proved to be `identity`.
    ///
    /// For programs that find out who is asking further in, after the layer: they put the result into the
    /// request's extensions.
    #[must_use]
    pub fn identified(&self, identity: Identity) -> Self {
        let place = self.0.place.clone();
        let tier = identity.tier.unwrap_or_else(|| place.identified_tier.clone());
        Self(Arc::new(Parts { subject: identity.subject, tier, place }))
    }

    /// Returns who is asking: the authenticated user or API key, else the signed anonymous id, else the address.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.0.subject
    }

    /// Returns the tier of the subject.
    #[must_use]
    pub fn tier(&self) -> &str {
        &self.0.tier
    }

    /// Returns the address alone, whoever is asking: for sign-in and whatever else is tried by brute force, since
    /// an anonymous id can be thrown away.
    ///
    /// Callers without a usable address share [`Subject::unknown`].
    #[must_use]
    pub fn address(&self) -> Subject {
        self.0.place.subject()
    }

    /// Returns the tier of the address alone.
    #[must_use]
    pub fn address_tier(&self) -> &str {
        &self.0.place.tier
    }

    /// Returns the network of `prefix` bits that an IPv6 address lies in; an IPv4 address stays as it is.
    #[must_use]
    pub fn network(&self, prefix: u8) -> Subject {
        self.0.place.network(prefix)
    }

    /// Returns the address itself, if there is a usable one.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        self.0.place.ip
    }

    /// The caller of a request; the unknown one, with a warning, where no layer resolved it.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get().cloned().unwrap_or_else(|| {
            static WARNED: std::sync::Once = std::sync::Once::new();
            WARNED.call_once(|| {
                tracing::warn!("no CallerLayer is in front of this route: all its callers share one quota");
            });
            Self::unknown()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_leaves_the_address_as_it_is() {
        let place = Place {
            ip: Some("203.0.113.9".parse().unwrap()),
            prefix: 64,
            tier: "free".into(),
            identified_tier: "default".into(),
        };
        let bare = Caller::at(place);
        let user = bare.identified(Subject::user("42").into());
        let key = user.identified(Identity::new(Subject::key("k")).tier("pro"));

        assert_eq!([bare.tier(), user.tier(), key.tier()], ["free", "default", "pro"]);
        assert_eq!(key.subject(), &Subject::key("k"));
        assert_eq!(key.address(), *bare.subject());
        assert_eq!(key.address_tier(), "free");
    }
}
