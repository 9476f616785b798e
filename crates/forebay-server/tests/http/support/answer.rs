//! An answer, read to its end.

use reqwest::{RequestBuilder, header::HeaderMap};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    headers: HeaderMap,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) async fn to(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, body: response.text().await.unwrap() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The status with the last part of the problem's type.
    pub(crate) fn problem(&self) -> (u16, String) {
        let json = self.json();
        let name = json["type"].as_str().unwrap_or_else(|| panic!("no problem: {self:?}"));
        (self.status, name.rsplit('/').next().unwrap().to_owned())
    }

    /// The token of the lease that was granted.
    pub(crate) fn lease(&self) -> String {
        assert_eq!(self.status, 201, "{self:?}");
        self.json()["lease"].as_str().unwrap().to_owned()
    }
}
