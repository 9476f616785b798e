//! The origin, as far as it speaks HTTP.

use std::time::Duration;

use reqwest::{
    StatusCode, Url,
    header::{CONTENT_TYPE, HeaderValue},
};

use crate::cli::{
    Failure,
    client::{chain, escaped, http},
    leases::Found,
};

/// Where the id stands in the URL.
const PLACE: &str = "{id}";

/// How long the origin may take for one.
const PATIENCE: Duration = Duration::from_secs(60);

/// No value is larger: a server takes no body that is.
const MOST_BYTES: usize = 64 << 20;

/// Where values are fetched from.
#[derive(Debug)]
pub(super) struct Source {
    http: reqwest::Client,
    template: String,
}

impl Source {
    pub(super) fn new(template: String) -> Result<Self, Failure> {
        Ok(Self { http: http()?, template })
    }

    /// Fetches the value of `id`; `None` if the origin says that there is none.
    pub(super) async fn fetch(&self, id: &str) -> Result<Option<Found>, Failure> {
        let url = self.template.replace(PLACE, &escaped(id));
        let failed = |error: reqwest::Error| Failure::Undone(format!("the origin: {}", chain(&error)));
        let mut response = self.http.get(url).timeout(PATIENCE).send().await.map_err(failed)?;
        match response.status() {
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            status if !status.is_success() => {
                return Err(Failure::Undone(format!("the origin has answered {status}")));
            }
            _ => {}
        }
        let content_type = response.headers().get(CONTENT_TYPE).cloned();
        let content_type = content_type.unwrap_or(HeaderValue::from_static("application/octet-stream"));
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MOST_BYTES {
                return Err(Failure::Undone(format!("the origin has more than {MOST_BYTES} bytes for it")));
            }
        }
        Ok(Some(Found { content_type, bytes }))
    }
}

/// A URL with a place for the id.
pub(super) fn template(text: &str) -> Result<String, String> {
    let example = "give a URL such as http://127.0.0.1:8000/items/{id}";
    if !text.contains(PLACE) {
        return Err(format!("it has no {PLACE} in the place of the id; {example}"));
    }
    match text.replace(PLACE, "id").parse::<Url>() {
        Ok(url) if url.scheme() == "http" && url.host().is_some() => Ok(text.to_owned()),
        Ok(_) => Err(format!("it is fetched in plain HTTP only; {example}")),
        Err(error) => Err(format!("it is no URL ({error}); {example}")),
    }
}
