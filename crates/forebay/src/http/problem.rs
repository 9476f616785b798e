//! Refusals as problems (RFC 9457), which no cache keeps.

use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER},
};
use serde::Serialize;

/// Why a request is answered by a layer.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    pub(super) r#type: &'static str,
    pub(super) title: &'static str,
    pub(super) status: u16,
    pub(super) detail: String,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after: Option<u64>,
    #[serde(rename = "violated-policies", skip_serializing_if = "Vec::is_empty")]
    pub(super) violated_policies: Vec<String>,
}

impl Problem {
    pub(super) fn answer<B: From<String>>(&self) -> Response<B> {
        let body = serde_json::to_string(self).expect("strings and numbers have a JSON form");
        let mut response = Response::new(B::from(body));
        *response.status_mut() = StatusCode::from_u16(self.status).expect("the statuses of layers are valid");
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}
