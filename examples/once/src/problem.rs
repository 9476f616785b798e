//! What a client is told when it does not get what it asked for: an `application/problem+json`.

use std::{fmt::Display, time::Duration};

use axum::{
    Json,
    extract::rejection::JsonRejection,
    http::{Method, StatusCode, Uri, header},
    response::{AppendHeaders, IntoResponse, Response},
};
use serde::Serialize;

use crate::outside::Returned;

const SOON: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    retry_after: Option<Duration>,
}

impl Problem {
    pub(crate) fn no_route(method: &Method, uri: &Uri) -> Self {
        let detail = format!("there is no {method} {}; try PUT /plans/42", uri.path());
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn nobody() -> Self {
        let detail = "send `Authorization: Bearer demo-ada`, or demo-bob";
        Self::new(StatusCode::UNAUTHORIZED, detail)
    }

    pub(crate) fn no_order(why: &JsonRejection) -> Self {
        Self::malformed(why, r#"{"order": "7", "cents": 1200}"#)
    }

    pub(crate) fn no_email(why: &JsonRejection) -> Self {
        Self::malformed(why, r#"{"email": "ada@example.org"}"#)
    }

    pub(crate) fn no_address() -> Self {
        let detail = r#"`email` must be an address of at most 254 bytes; send {"email": "ada@example.org"}"#;
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn no_goal(why: &JsonRejection) -> Self {
        Self::malformed(why, r#"{"goal": "learn to swim"}"#)
    }

    pub(crate) fn too_soon(retry_after: Duration) -> Self {
        let detail = "a code was sent to this address a moment ago";
        Self::new(StatusCode::TOO_MANY_REQUESTS, detail).after(retry_after)
    }

    pub(crate) fn undeliverable(why: &Returned) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, format!("the mail came back: {why}"))
    }

    pub(crate) fn no_plan(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no plan {id} yet"))
    }

    pub(crate) fn busy(retry_after: Duration) -> Self {
        Self::new(StatusCode::CONFLICT, "this plan is being drawn").after(retry_after)
    }

    pub(crate) fn overtaken() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "a later request has written this plan meanwhile; nothing was changed",
        )
    }

    pub(crate) fn lost() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "this took too long, and others may draw it now")
            .after(SOON)
    }

    pub(crate) fn unavailable(why: &dyn Display) -> Self {
        tracing::warn!(%why, "nothing was done");
        let detail = "nothing was done, as it cannot be found out what others do";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).after(SOON)
    }

    fn malformed(why: &JsonRejection, example: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("{}; send {example}", why.body_text()))
    }

    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after: None }
    }

    fn after(self, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..self }
    }
}

impl From<forebay::Error> for Problem {
    fn from(why: forebay::Error) -> Self {
        Self::unavailable(&why)
    }
}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        tracing::error!(%error, "the database failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the database failed; the program's log says why")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct Body {
            title: Option<&'static str>,
            status: u16,
            detail: String,
        }
        let Self { status, detail, retry_after } = self;
        let body = Body { title: status.canonical_reason(), status: status.as_u16(), detail };
        let content_type = [(header::CONTENT_TYPE, "application/problem+json")];
        let scheme = (status == StatusCode::UNAUTHORIZED).then_some([(header::WWW_AUTHENTICATE, "Bearer")]);
        // Whole seconds, rounded up: whoever comes back then is not refused again.
        let retry_after = retry_after
            .map(|span| [(header::RETRY_AFTER, span.as_millis().div_ceil(1000).max(1).to_string())]);
        let headers = (scheme.map(AppendHeaders), retry_after.map(AppendHeaders), content_type);
        (status, headers, Json(body)).into_response()
    }
}
