//! What a client is told when it does not get what it asked for: an `application/problem+json`.

use std::time::Duration;

use axum::{
    Json,
    extract::rejection::{JsonRejection, PathRejection},
    http::{Method, StatusCode, Uri, header},
    response::{AppendHeaders, IntoResponse, Response},
};
use forebay::cache::LoadError;
use serde::Serialize;

const SOON: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    retry_after: Option<Duration>,
}

impl Problem {
    pub(crate) fn no_route(method: &Method, uri: &Uri) -> Self {
        let detail = format!("there is no {method} {}; try GET /products/17 or GET /stats", uri.path());
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn no_product(id: u32) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no product {id}; ids begin at 1"))
    }

    pub(crate) fn no_price(why: &JsonRejection) -> Self {
        let detail = format!(r#"{}; send a price above 0, such as {{"price_cents": 1999}}"#, why.body_text());
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after: None }
    }

    fn unavailable(detail: &str, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail) }
    }
}

impl From<PathRejection> for Problem {
    fn from(_: PathRejection) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "a product's id is a whole number, as in /products/17")
    }
}

impl From<LoadError<sqlx::Error>> for Problem {
    fn from(error: LoadError<sqlx::Error>) -> Self {
        match error {
            LoadError::Failed(why) => why.as_ref().into(),
            LoadError::FailedElsewhere { retry_after } => {
                Self::unavailable("the database failed a moment ago", retry_after)
            }
            LoadError::TimedOut => Self::unavailable("the database took too long", SOON),
            LoadError::Overloaded => Self::unavailable("too many queries run already", SOON),
            bug => {
                tracing::error!(error = %bug, "a product could not be loaded");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the program has a bug; its log says more")
            }
        }
    }
}

impl From<&sqlx::Error> for Problem {
    fn from(error: &sqlx::Error) -> Self {
        tracing::error!(%error, "the database failed");
        Self::unavailable("the database failed; the program's log says why", SOON)
    }
}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        (&error).into()
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
        // Whole seconds, and never 0, which would ask for a retry at once.
        let retry_after = retry_after.map(|span| [(header::RETRY_AFTER, span.as_secs().max(1).to_string())]);
        (status, retry_after.map(AppendHeaders), content_type, Json(body)).into_response()
    }
}
