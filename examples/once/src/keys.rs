//! Whose key a request shows, in `Authorization: Bearer`.

use std::convert::Infallible;

use axum::{
    extract::FromRequestParts,
    http::{header::AUTHORIZATION, request::Parts},
};
use forebay::{
    Subject,
    http::{Caller, Identity},
};

use crate::problem::Problem;

/// Each key with its user. A real table has hashes of the keys.
const KEYS: [(&str, &str); 2] = [("demo-ada", "ada"), ("demo-bob", "bob")];

/// Says whose key a request shows, for the layer that finds out who is asking.
pub(crate) fn identity(
    head: &Parts,
) -> impl Future<Output = Result<Option<Identity>, Infallible>> + Send + use<> {
    let shown = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = shown.and_then(|value| value.strip_prefix("Bearer "));
    let user = KEYS.iter().find(|(known, _)| Some(*known) == key).map(|(_, user)| *user);
    async move { Ok(user.map(|user| Identity::new(Subject::user(user)))) }
}

/// The user whose key came with the request. Without one it is refused.
pub(crate) struct User(pub(crate) Subject);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(caller) = <Caller as FromRequestParts<S>>::from_request_parts(head, state).await;
        if *caller.subject() == caller.address() {
            return Err(Problem::nobody());
        }
        Ok(Self(caller.subject().clone()))
    }
}
