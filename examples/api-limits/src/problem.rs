//! What a client is told that is not let in: an `application/problem+json`, as the limits answer.

use axum::{
    Json,
    http::{
        StatusCode,
        header::{CONTENT_TYPE, WWW_AUTHENTICATE},
    },
    response::{AppendHeaders, IntoResponse, Response},
};
use serde::Serialize;

/// The status, and what to do about it.
pub(crate) struct Problem(pub(crate) StatusCode, pub(crate) &'static str);

#[derive(Serialize)]
struct Body {
    title: Option<&'static str>,
    status: u16,
    detail: &'static str,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(status, detail) = self;
        let body = Body { title: status.canonical_reason(), status: status.as_u16(), detail };
        let scheme = (status == StatusCode::UNAUTHORIZED).then_some([(WWW_AUTHENTICATE, "Bearer")]);
        let content_type = [(CONTENT_TYPE, "application/problem+json")];
        (status, scheme.map(AppendHeaders), content_type, Json(body)).into_response()
    }
}
