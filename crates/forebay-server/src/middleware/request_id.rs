//! The name of each request, for its answer and for the log.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id taken over from a client.
const LONGEST: usize = 128;

/// An id in visible ASCII.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// The client's own id if it is fit for a log, else a new one.
    fn of(headers: &HeaderMap) -> Self {
        let theirs = headers.get(X_REQUEST_ID).filter(|id| is_sane(id.as_bytes()));
        Self(theirs.cloned().unwrap_or_else(|| {
            let id = format!("{:032x}", rand::random::<u128>());
            HeaderValue::from_str(&id).expect("hexadecimal digits are visible")
        }))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().expect("an id is visible ASCII")
    }
}

fn is_sane(id: &[u8]) -> bool {
    (1..=LONGEST).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

/// Names the request, and its answer alike.
pub(crate) async fn request_id(mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    response.headers_mut().insert(X_REQUEST_ID, id.0);
    response
}
