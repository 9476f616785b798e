//! What a client is told that does not get what it asked for: an `application/problem+json` (RFC 9457).

use std::{fmt::Display, time::Duration};

use axum::{
    Json,
    http::{Method, StatusCode, Uri, header},
    response::{AppendHeaders, IntoResponse, Response},
};
use forebay::cache::LoadError;
use serde::Serialize;

use crate::store::Charge;

const SOON: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    retry_after: Option<Duration>,
}

impl Problem {
    pub(crate) fn no_route(method: &Method, uri: &Uri) -> Self {
        let detail = format!("there is no {method} {}; try POST /ask", uri.path());
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// Which methods a path takes is in `Allow`.
    pub(crate) fn no_method(method: &Method, uri: &Uri) -> Self {
        let detail = format!("{} takes no {method}", uri.path());
        Self::new(StatusCode::METHOD_NOT_ALLOWED, detail)
    }

    pub(crate) fn unreadable(status: StatusCode, why: &str) -> Self {
        Self::new(status, why)
    }

    pub(crate) fn nobody() -> Self {
        let detail = "nobody has this API key; send `X-Api-Key: demo-free`, or demo-pro or demo-partner";
        Self::new(StatusCode::UNAUTHORIZED, detail)
    }

    pub(crate) fn no_operator() -> Self {
        Self::new(StatusCode::FORBIDDEN, "figures are for operators; send `X-Api-Key: demo-ops`")
    }

    pub(crate) fn no_user() -> Self {
        let detail = "say for whom you ask in at most 64 bytes; send `X-User: runner-7`";
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn no_such_user(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no runner {id}; there are runner-1 to runner-100"))
    }

    pub(crate) fn malformed(why: &str, example: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("{why}; send {example}"))
    }

    pub(crate) fn no_profile() -> Self {
        let detail = "`vo2max` is 10 to 100 ml/min/kg, `lt_pace` 120 to 900 s/km";
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn no_address() -> Self {
        let detail = r#"`email` must be an address of at most 254 bytes; send {"email": "ada@example.org"}"#;
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn too_soon(retry_after: Duration) -> Self {
        let detail = "a code was sent to this address a moment ago";
        Self::new(StatusCode::TOO_MANY_REQUESTS, detail).after(retry_after)
    }

    pub(crate) fn plan_is_drawn(retry_after: Duration) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "a plan for this runner is being drawn").after(retry_after)
    }

    pub(crate) fn order_is_being_paid(retry_after: Duration) -> Self {
        Self::new(StatusCode::CONFLICT, "this order is being paid under another key").after(retry_after)
    }

    pub(crate) fn overtaken() -> Self {
        let detail = "a later request has written this runner's plan meanwhile; nothing was changed";
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub(crate) fn other_amount(charge: &Charge) -> Self {
        let detail = format!("order {} was charged already, with {} cents", charge.order, charge.cents);
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub(crate) fn lost() -> Self {
        let detail = "this took too long, and others may do it now";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).after(SOON)
    }

    pub(crate) fn no_model(why: &dyn Display) -> Self {
        // Each call that fails is in the log once, and Forebay says when it asks no more.
        tracing::debug!(%why, "there is no answer");
        let detail = "the model does not answer, and has not answered this before";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).after(SOON)
    }

    pub(crate) fn unavailable(why: &dyn Display) -> Self {
        // Forebay says once what is wrong with Redis.
        tracing::debug!(%why, "nothing was done");
        let detail = "nothing was done, as it cannot be found out what others do";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).after(SOON)
    }

    fn no_database(why: &dyn Display) -> Self {
        tracing::error!(%why, "the database failed");
        let detail = "the database failed; the program's log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
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
    fn from(why: sqlx::Error) -> Self {
        Self::no_database(&why)
    }
}

impl From<LoadError<sqlx::Error>> for Problem {
    fn from(why: LoadError<sqlx::Error>) -> Self {
        Self::no_database(&why)
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
