//! Panics in handlers: the client learns that there was one, only the log learns what happened.

use std::any::Any;

use axum::response::{IntoResponse, Response};

use crate::error::{Kind, Problem};

/// The answer of a request whose handler panicked.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands the panic over")]
pub(crate) fn problem_of_panic(panic: Box<dyn Any + Send>) -> Response {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text, "a handler panicked");
    Problem::new(Kind::Internal, "this is a fault of the server; its log has more under the request's id")
        .into_response()
}
