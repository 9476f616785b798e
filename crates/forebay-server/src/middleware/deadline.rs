//! An end for every request, its body included.

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use tokio::time::timeout;

use super::upload::Upload;
use crate::{
    app::Shared,
    error::{Kind, Problem},
};

/// Drops a request that takes too long; a lookup that still waits gives back what it holds.
pub(crate) async fn deadline(
    State(app): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let upload = request.extensions().get::<Upload>().cloned().unwrap_or_default();
    timeout(app.request_deadline, next.run(request)).await.map_err(|_| {
        let detail = format!("a request may take {:?}, its body included", app.request_deadline);
        let kind = if upload.is_awaited() { Kind::RequestTimeout } else { Kind::DeadlinePassed };
        Problem::new(kind, detail)
    })
}
