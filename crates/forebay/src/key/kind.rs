//! What a key of an application is for.

use super::{Keys, stored::literally};

/// What a key is for, by how it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Value,
    Lease,
    Numbers,
    Tag,
    Limit,
    Lock,
    Fence,
    Claim,
    Once,
    Visitors,
    Filter,
    Stream,
}

impl Kind {
    pub(crate) const ALL: [Self; 12] = [
        Self::Value,
        Self::Lease,
        Self::Numbers,
        Self::Tag,
        Self::Limit,
        Self::Lock,
        Self::Fence,
        Self::Claim,
        Self::Once,
        Self::Visitors,
        Self::Filter,
        Self::Stream,
    ];

    fn prefix(self) -> &'static str {
        match self {
            Self::Value => "cache",
            Self::Lease => "lease",
            Self::Numbers => "tags",
            Self::Tag => "tag",
            Self::Limit => "rate_limit",
            Self::Lock => "lock",
            Self::Fence => "fence",
            Self::Claim => "claim",
            Self::Once => "idem",
            Self::Visitors => "uv",
            Self::Filter => "filter",
            Self::Stream => "stream",
        }
    }
}

impl Keys {
    /// Matches every key of the application, with some of others among them: [`Keys::kind`] tells them apart.
    pub(crate) fn all(&self) -> String {
        ["*:", &literally(self.app.as_str()), ":*"].concat()
    }

    /// What a key of the application is for.
    pub(crate) fn kind(&self, key: &str) -> Option<Kind> {
        let (prefix, rest) = key.split_once(':')?;
        rest.strip_prefix(self.app.as_str())?.strip_prefix(':')?;
        Kind::ALL.into_iter().find(|kind| kind.prefix() == prefix)
    }

    /// A key of that kind which nothing else uses, to try on it what may be done.
    pub(crate) fn scratch(&self, kind: Kind, token: &str) -> String {
        self.named(kind.prefix(), &["doctor-", token].concat())
    }

    /// A channel that nobody else uses.
    pub(crate) fn scratch_channel(&self, token: &str) -> String {
        self.channel(&["doctor-", token].concat())
    }

    /// Matches every channel of the application.
    pub(crate) fn channels(&self) -> String {
        self.channel("*")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{App, Name};

    #[test]
    fn keys_of_the_application_are_told_from_all_others() {
        let (keys, name) = (Keys::new(App::new("shop").unwrap()), Name::new("a:b").unwrap());
        for (key, kind) in [
            (keys.value(&name, 2, "x"), Kind::Value),
            (keys.lease(&name, 2, "x"), Kind::Lease),
            (keys.numbers(&name), Kind::Numbers),
            (keys.tag(&name, "t"), Kind::Tag),
            (keys.limit(&name, "user:1", None), Kind::Limit),
            (keys.lock("l"), Kind::Lock),
            (keys.fence("l"), Kind::Fence),
            (keys.claim("c"), Kind::Claim),
            (keys.idempotency("i"), Kind::Once),
            (keys.unique(&name, "2026-05-13"), Kind::Visitors),
            (keys.filter(&name), Kind::Filter),
            (keys.stream(&name), Kind::Stream),
        ] {
            assert_eq!(keys.kind(&key), Some(kind), "{key}");
            assert_eq!(keys.kind(&keys.scratch(kind, "7")), Some(kind));
            assert_ne!(keys.scratch(kind, "7"), keys.scratch(kind, "8"));
            // Two doctors at once do not hear each other.
            assert_ne!(keys.scratch_channel("7"), keys.scratch_channel("8"));
        }
        for foreign in
            ["", "cache", "cache:shop", "cache:shopping:a:v1:{x}", "session:shop:1", "shop:cache:x"]
        {
            assert_eq!(keys.kind(foreign), None, "{foreign}");
        }
        assert_eq!(Keys::new(App::new("a-b").unwrap()).all(), r"*:a\-b:*");
    }
}
