//! What is counted at present: the keys of all policies, with what is in use of some of them.

use std::{collections::BTreeSet, sync::PoisonError, time::Duration};

use futures::stream::{self, StreamExt};

use super::{backend::Ask, home::Home, inner::Inner};
use crate::{
    error::{Error, ErrorKind},
    key::Keys,
    redis::{Primary, Redis, Reply, Unusable},
};

/// Of how many keys the counts are read.
const SHOWN: usize = 100;

/// How many keys are looked for.
const MOST: usize = 10_000;

/// How many pages of 500 keys are read: a Redis with millions of other keys is not walked through.
const PAGES: usize = 400;

/// How many counts are read at a time.
const AT_A_TIME: usize = 32;

/// Whose limits are in use.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Listing {
    /// The counts of the first 100 keys by name, the largest count first.
    pub counts: Vec<Count>,
    /// How many keys were found, at most 10,000.
    pub total: usize,
    /// Whether there may be more keys, since not all were looked at.
    pub truncated: bool,
}

/// What one subject has in use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The key in the store.
    pub key: String,
    /// The name of the policy.
    pub policy: String,
    /// The subject in its [encoded](crate::key::encode) form.
    pub subject: String,
    /// What counts in each window that a tier of the policy has; nothing where this process has no
    /// limiter of the policy, without which the counts cannot be read.
    pub windows: Option<Vec<WindowCount>>,
}

/// What counts in one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowCount {
    /// The length of the window.
    pub window: Duration,
    /// How much of it is in use.
    pub used: u64,
}

impl Count {
    /// The largest count of a window.
    #[must_use]
    pub fn used(&self) -> Option<u64> {
        self.windows.as_ref().map(|windows| windows.iter().map(|window| window.used).max().unwrap_or(0))
    }
}

impl Home {
    pub(crate) async fn list(&self) -> Result<Listing, Error> {
        let keys = Keys::new(self.context.app.clone());
        let found = match self.shared() {
            None => Found::here(self.counts().keys(MOST + 1)),
            Some(redis) => Found::at(redis, &keys).await.map_err(|_| unavailable())?,
        };
        let counts: Vec<_> = found.keys.iter().take(SHOWN).filter_map(|key| self.count(key, &keys)).collect();
        let mut counts: Vec<Count> = stream::iter(counts).buffered(AT_A_TIME).collect().await;
        counts.sort_by_key(|count| std::cmp::Reverse(count.used()));
        Ok(Listing { counts, total: found.keys.len(), truncated: found.truncated })
    }

    fn count<'a>(&'a self, key: &'a str, keys: &Keys) -> Option<impl Future<Output = Count> + 'a> {
        let (policy, subject, mode) = keys.read_limit(key)?;
        let limiter = self.limiter(policy).filter(|limiter| limiter.mode.variant() == mode);
        let (key, policy) = (key.to_owned(), policy.to_owned());
        Some(async move {
            let windows = match limiter {
                Some(limiter) => limiter.in_use(subject).await,
                None => None,
            };
            Count { key, policy, subject: subject.to_owned(), windows }
        })
    }
}

impl Inner {
    /// What a subject has in use in every window of the policy, if the store says so.
    async fn in_use(&self, subject: &str) -> Option<Vec<WindowCount>> {
        let tier = self.policy.read().unwrap_or_else(PoisonError::into_inner).widest();
        if tier.windows.is_empty() {
            return Some(Vec::new());
        }
        let tier = tier.into();
        let verdict =
            self.backend.check(subject, Ask { tier: &tier, cost: 0, take: false, until: None }).await.ok()?;
        let from_store = verdict.applied.is_none();
        let counts = tier.windows.iter().zip(&*verdict.usage);
        let counts = counts.map(|(window, usage)| WindowCount { window: window.length(), used: usage.used });
        from_store.then(|| counts.collect())
    }
}

/// The keys that were found.
#[derive(Debug, Default)]
struct Found {
    keys: BTreeSet<Box<str>>,
    truncated: bool,
}

impl Found {
    fn here(keys: Vec<Box<str>>) -> Self {
        let truncated = keys.len() > MOST;
        Self { keys: keys.into_iter().take(MOST).collect(), truncated }
    }

    /// Scans the primaries in turn, until it has enough.
    async fn at(redis: &Redis, keys: &Keys) -> Result<Self, Unusable> {
        let (mut found, mut pages) = (Self::default(), PAGES);
        for primary in redis.primaries()? {
            found.scan(&primary, keys, &mut pages).await?;
        }
        Ok(found)
    }

    async fn scan(&mut self, primary: &Primary, keys: &Keys, pages: &mut usize) -> Result<(), Unusable> {
        let (pattern, mut cursor) = (keys.limits(), 0);
        loop {
            self.truncated |= *pages == 0;
            if self.truncated {
                return Ok(());
            }
            *pages -= 1;
            let (next, listed) = primary.scan(cursor, &pattern).await?;
            cursor = next;
            let ours = listed.iter().filter_map(Reply::text).filter(|key| keys.read_limit(key).is_some());
            // A scan may name a key more than once.
            ours.for_each(|key| self.add(key));
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    fn add(&mut self, key: &str) {
        match self.keys.contains(key) {
            true => {}
            false if self.keys.len() == MOST => self.truncated = true,
            false => {
                self.keys.insert(key.into());
            }
        }
    }
}

fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "Redis cannot be asked for its keys")
}
