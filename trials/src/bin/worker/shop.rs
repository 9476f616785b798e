//! The cache that is tried: what each subject answers to the same calls.

use forebay::cache::{Cache, Invalidated, LoadError, Put};
use forebay_trials::order::{Origin, Outcome};

use crate::{
    naive::Naive,
    origin::{Failed, Source, Value, value},
};

/// A cache of one subject. Another subject is another variant.
#[derive(Clone)]
pub(crate) enum Shop {
    Forebay(Cache<Value>),
    Naive(Naive),
}

impl Shop {
    pub(crate) async fn load(&self, id: &str, source: Source, origin: Origin) -> Outcome {
        let cache = match self {
            Self::Forebay(cache) => cache,
            Self::Naive(naive) => return naive.load(id, source, origin).await,
        };
        let loader =
            async move |load: forebay::cache::Load<Value>| source.load(load.id().to_owned(), origin).await;
        match cache.get_or_load(id, loader).await {
            Ok(value) => found(&value),
            Err(error) => failed(&error),
        }
    }

    pub(crate) async fn read(&self, id: &str) -> Outcome {
        match self {
            Self::Forebay(cache) => cache.get(id).await.map_or(Outcome::Nothing, |value| found(&value)),
            Self::Naive(naive) => naive.read(id).await,
        }
    }

    pub(crate) async fn put(&self, id: &str, version: u64) -> Outcome {
        match self {
            Self::Forebay(cache) => match cache.put(id, value(version, 0)).await {
                Ok(Put::Stored) => Outcome::Everywhere,
                Ok(Put::Deferred) => Outcome::Deferred,
                Err(error) => Outcome::Error(error.to_string()),
            },
            Self::Naive(naive) => naive.put(id, value(version, 0)).await,
        }
    }

    pub(crate) async fn invalidate(&self, id: &str) -> Outcome {
        match self {
            Self::Forebay(cache) => changed(cache.invalidate(id).await),
            Self::Naive(naive) => naive.forget(id).await,
        }
    }

    pub(crate) async fn expire(&self, id: &str) -> Outcome {
        match self {
            Self::Forebay(cache) => changed(cache.expire(id).await),
            Self::Naive(naive) => naive.forget(id).await,
        }
    }

    /// How many fills were refused, where the subject says so.
    pub(crate) fn refused_fills(&self) -> u64 {
        match self {
            Self::Forebay(cache) => cache.stats().refused_fills,
            Self::Naive(_) => 0,
        }
    }
}

pub(crate) fn found(value: &Value) -> Outcome {
    Outcome::Value { version: value.version, pid: value.pid }
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
