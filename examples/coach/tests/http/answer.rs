//! What a client is answered, once it has all of it.

use reqwest::{RequestBuilder, header::HeaderMap};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) async fn to(request: RequestBuilder) -> reqwest::Result<Self> {
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Self { status, headers, body: response.json().await? })
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_else(|| panic!("{field} in {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("{name} in {self:?}")).to_str().unwrap()
    }

    pub(crate) fn is_replayed(&self) -> bool {
        self.headers.contains_key("idempotent-replayed")
    }

    /// The seconds after which the client is asked back.
    pub(crate) fn retry_after(&self) -> u64 {
        self.header("retry-after").parse().unwrap()
    }
}
