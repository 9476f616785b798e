//! The cache that is tried: what each subject answers to the same calls.

use forebay::cache::{Answered, Batching, Invalidated, LoadError, Loaded, Put};
use forebay_trials::order::{Origin, Outcome, tag_of};
use futures::future::join_all;

use crate::{
    moka::Moka,
    naive::Naive,
    origin::{Failed, Source, Value, value},
};

/// What is loaded together is read from the rows at once.
pub(crate) const TOGETHER: Origin = Origin::Row { ms: 30 };

/// A cache of one subject. Another subject is another variant.
#[derive(Clone)]
pub(crate) enum Shop {
    Forebay(Batching<Value, Failed>, Tags),
    Naive(Naive),
    Moka(Moka),
}

/// Whether values have the tag of their id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tags(pub(crate) bool);

impl Tags {
    pub(crate) fn put_on(self, id: &str, value: Value) -> Loaded<Value> {
        let tags = self.0.then(|| tag_of(id)).flatten();
        Loaded::new(value).tags(tags)
    }
}

impl Shop {
    pub(crate) async fn load(&self, id: &str, source: Source, origin: Origin) -> Outcome {
        let (cache, tags) = match self {
            Self::Forebay(cache, tags) => (cache, *tags),
            Self::Naive(naive) => return naive.load(id, source, origin).await,
            Self::Moka(moka) => return moka.load(id, source, origin).await,
        };
        let loader = async move |load: forebay::cache::Load<Value>| {
            let value = source.load(load.id().to_owned(), origin).await?;
            Ok(tags.put_on(load.id(), value))
        };
        match cache.get_or_load(id, loader).await {
            Ok(value) => found(&value),
            Err(error) => failed(&error),
        }
    }

    /// What becomes of each id, in their order.
    pub(crate) async fn load_many(&self, ids: &[String], source: Source) -> Vec<Outcome> {
        match self {
            Self::Forebay(cache, _) => {
                cache.get_many(ids).await.into_iter().map(|(_, answer)| told(answer)).collect()
            }
            Self::Naive(naive) => {
                join_all(ids.iter().map(|id| naive.load(id, source.clone(), TOGETHER))).await
            }
            Self::Moka(moka) => join_all(ids.iter().map(|id| moka.load(id, source.clone(), TOGETHER))).await,
        }
    }

    pub(crate) async fn read(&self, id: &str) -> Outcome {
        match self {
            Self::Forebay(cache, _) => cache.get(id).await.map_or(Outcome::Nothing, |value| found(&value)),
            Self::Naive(naive) => naive.read(id).await,
            Self::Moka(moka) => moka.read(id).await,
        }
    }

    pub(crate) async fn put(&self, id: &str, version: u64) -> Outcome {
        match self {
            Self::Forebay(cache, tags) => match cache.put(id, tags.put_on(id, value(version, 0))).await {
                Ok(Put::Stored) => Outcome::Everywhere,
                Ok(Put::Deferred) => Outcome::Deferred,
                Err(error) => Outcome::Error(error.to_string()),
            },
            Self::Naive(naive) => naive.put(id, value(version, 0)).await,
            Self::Moka(moka) => moka.put(id, value(version, 0)).await,
        }
    }

    pub(crate) async fn invalidate(&self, id: &str) -> Outcome {
        match self {
            Self::Forebay(cache, _) => changed(cache.invalidate(id).await),
            other => other.forget(&[id.to_owned()]).await,
        }
    }

    pub(crate) async fn expire(&self, id: &str) -> Outcome {
        match self {
            Self::Forebay(cache, _) => changed(cache.expire(id).await),
            other => other.forget(&[id.to_owned()]).await,
        }
    }

    pub(crate) async fn invalidate_tag(&self, tag: &str, ids: &[String]) -> Outcome {
        match self {
            Self::Forebay(cache, _) => changed(cache.invalidate_tag(tag).await),
            other => other.forget(ids).await,
        }
    }

    pub(crate) async fn clear(&self, ids: &[String]) -> Outcome {
        match self {
            Self::Forebay(cache, _) => changed(cache.clear().await),
            other => other.forget(ids).await,
        }
    }

    /// How many fills were refused, where the subject says so.
    pub(crate) fn refused_fills(&self) -> u64 {
        match self {
            Self::Forebay(cache, _) => cache.stats().refused_fills,
            Self::Naive(_) | Self::Moka(_) => 0,
        }
    }

    /// What those do that cannot tell a tag, or what is old, from anything else.
    async fn forget(&self, ids: &[String]) -> Outcome {
        match self {
            Self::Forebay(cache, _) => changed(cache.invalidate_many(ids).await),
            Self::Naive(naive) => naive.forget(ids).await,
            Self::Moka(moka) => moka.forget(ids).await,
        }
    }
}

pub(crate) fn found(value: &Value) -> Outcome {
    Outcome::Value { version: value.version, pid: value.pid }
}

fn told(answer: Answered<Value, Failed>) -> Outcome {
    match answer {
        Ok(value) => value.map_or(Outcome::Nothing, |value| found(&value)),
        Err(error) => failed(&error),
    }
}

fn changed(done: Invalidated) -> Outcome {
    match done {
        Invalidated::Everywhere => Outcome::Everywhere,
        Invalidated::Deferred => Outcome::Deferred,
    }
}

fn failed(error: &LoadError<Failed>) -> Outcome {
    match error {
        LoadError::Failed(_) => Outcome::Failed,
        LoadError::FailedElsewhere { .. } => Outcome::FailedElsewhere,
        other => Outcome::Error(format!("{other:?}")),
    }
}
