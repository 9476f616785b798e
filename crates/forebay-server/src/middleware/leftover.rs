//! What nobody has read of a body, as of a request that was refused by its head.
//!
//! Its connection can only be used again once that has been read; and one that is closed on a client that is writing
//! loses the answer.

use std::time::Duration;

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::{
        HeaderValue,
        header::{CONNECTION, EXPECT},
    },
    middleware::Next,
    response::Response,
};
use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::upload::Upload;

/// How much is read that nobody wants.
const MOST: u64 = 16 * 1024 * 1024;

/// How long it is read.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads what is left of the body, or else says that the connection ends.
pub(crate) async fn leftover(request: Request, next: Next) -> Response {
    let asks_first = request.headers().contains_key(EXPECT);
    let (request, upload) = Upload::watch(request);
    let mut response = next.run(request).await;
    let Some(rest) = upload.rest() else { return response };
    // Whoever asks first sends nothing unless it is read, and whoever has let the server wait may do so again.
    let is_coming = !upload.is_awaited() && (upload.is_begun() || !asks_first);
    if !is_coming || !is_read(rest).await {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads `rest` to its end, unless that is too far.
async fn is_read(mut rest: Body) -> bool {
    rest.size_hint().lower() <= MOST && timeout(PATIENCE, drain(&mut rest)).await.unwrap_or(false)
}

async fn drain(rest: &mut Body) -> bool {
    let mut left = MOST;
    while let Some(frame) = rest.frame().await {
        let Ok(frame) = frame else { return false };
        let length = frame.data_ref().map_or(0, Bytes::len) as u64;
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}
