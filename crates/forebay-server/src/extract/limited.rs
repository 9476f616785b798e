//! The policy, counter or topic that a call is about, with the subject.

use axum::{extract::FromRequestParts, http::request::Parts};
use forebay::{Subject, unique::Reader};

use super::Segments;
use crate::{app::Shared, counters::Counter, error::Problem, limits::Policy, topics::Asked};

/// What `/v1/limits/{policy}` names.
#[derive(Debug)]
pub(crate) struct AskedPolicy(pub(crate) Policy);

/// What `/v1/limits/{policy}/{subject}` names.
///
/// A subject is taken as the library displays it, so that `user:42` is one and the same for a service that uses the
/// library over the same Redis, for the listing of what is in use, and here: whoever sees a subject there can ask
/// for it, or reset it. A text without a kind is a subject of its own.
#[derive(Debug)]
pub(crate) struct AskedSubject {
    pub(crate) policy: Policy,
    pub(crate) subject: Subject,
}

/// What `/v1/unique/{counter}` names, for a call that records: the counter is made if it is new.
#[derive(Debug)]
pub(crate) struct AskedCounter(pub(crate) Counter);

/// The same for a call that records nobody.
#[derive(Debug)]
pub(crate) struct ReadCounter(pub(crate) Reader);

/// What `/v1/events/{topic}` names.
#[derive(Debug)]
pub(crate) struct AskedTopic(pub(crate) Asked);

impl FromRequestParts<Shared> for AskedTopic {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        app.topics.find(Segments::find(parts, 2)?).map(Self)
    }
}

impl FromRequestParts<Shared> for AskedCounter {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        app.counters.made(Segments::find(parts, 2)?).map(Self)
    }
}

impl FromRequestParts<Shared> for ReadCounter {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        app.counters.read(Segments::find(parts, 2)?).map(Self)
    }
}

impl FromRequestParts<Shared> for AskedPolicy {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        app.limits.find(Segments::find(parts, 2)?).cloned().map(Self)
    }
}

impl FromRequestParts<Shared> for AskedSubject {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let policy = app.limits.find(Segments::find(parts, 2)?)?.clone();
        Ok(Self { policy, subject: Subject::spelled(Segments::find(parts, 3)?) })
    }
}
