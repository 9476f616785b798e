//! Leases as a client over HTTP takes, holds and fills them.

use std::time::Duration;

use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Deserialize;
use serde_json::json;
use tokio::time::sleep;

use super::{
    Failure,
    client::{Client, Refused, refusal},
};
use crate::{api::answer::FOREBAY_CACHE, error::Kind};

const LEASE: &str = "forebay-lease";
const LEASE_MS: &str = "forebay-lease-ms";

/// What a server answers whoever asks for a lease.
#[derive(Debug)]
pub(super) enum Leased {
    /// There is a value.
    Value {
        /// The lease to replace it, if the caller is to.
        lease: Option<Granted>,
    },
    /// It is known that there is none.
    Absent,
    /// The caller loads.
    Granted(Granted),
    /// Somebody else loads.
    Busy,
    /// A load failed a moment ago.
    Failed,
}

/// A lease as it is granted.
#[derive(Debug, Deserialize)]
pub(super) struct Granted {
    lease: String,
    lease_ms: u64,
}

/// Why something was not done about an id.
#[derive(Debug)]
pub(super) enum Undone {
    /// It may be done about another one.
    Here(Failure),
    /// The server would refuse that for every other one, too.
    Everywhere(Failure),
}

/// What was found at the origin.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) content_type: HeaderValue,
    pub(super) bytes: Vec<u8>,
}

/// One id of one space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) client: &'a Client,
    pub(super) space: &'a str,
    pub(super) id: &'a str,
}

impl Target<'_> {
    /// Asks for the value, or the lease to load it; waits for at most `wait_ms` where somebody else does.
    pub(super) async fn take(&self, wait_ms: u64) -> Result<Leased, Undone> {
        self.take_within(self.client.patience(wait_ms), wait_ms).await
    }

    /// Likewise, where the answer may take as long as `patience`, however short the wait is.
    pub(super) async fn take_within(&self, patience: Duration, wait_ms: u64) -> Result<Leased, Undone> {
        let request = self.request(Method::POST)?.timeout(patience);
        let response = self.client.ask(request.json(&json!({ "wait_ms": wait_ms }))).await?;
        Ok(match response.status() {
            // Anybody may answer 200: only a Forebay server says how the cache took part.
            StatusCode::OK if response.headers().contains_key(FOREBAY_CACHE) => {
                Leased::Value { lease: to_replace(response.headers()) }
            }
            StatusCode::CREATED => Leased::Granted(self.client.read(response).await?),
            _ => match Refused::read(response).await {
                refused if refused.is(Kind::CachedAbsence) => Leased::Absent,
                refused if refused.is(Kind::Busy) => Leased::Busy,
                refused if refused.is(Kind::LoadFailed) => Leased::Failed,
                refused => return Err(refused.into()),
            },
        })
    }

    /// Stores what was loaded under `lease`.
    pub(super) async fn fill(
        &self,
        lease: &Granted,
        found: Found,
        ttl_ms: Option<u64>,
    ) -> Result<(), Undone> {
        let request = self.put(lease, ttl_ms)?.header(CONTENT_TYPE, found.content_type);
        self.send(request.body(found.bytes)).await
    }

    /// Remembers that there is nothing.
    pub(super) async fn fill_absence(&self, lease: &Granted, ttl_ms: Option<u64>) -> Result<(), Undone> {
        self.send(self.put(lease, ttl_ms)?.query(&[("absent", "1")])).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<(), Undone> {
        let response = self.client.ask(request).await?;
        if response.status().is_success() { Ok(()) } else { Err(Refused::read(response).await.into()) }
    }

    /// Holds the lease for as long as this is waited for; returns why it is lost.
    pub(super) async fn hold(&self, lease: &Granted) -> Failure {
        let quarter = Duration::from_millis(lease.lease_ms / 4);
        loop {
            sleep(quarter).await;
            let renewal = self.with(Method::PATCH, lease);
            let renewed: Result<Response, Failure> = match renewal {
                Ok(request) => self.client.ask(request.timeout(quarter).json(&json!({}))).await,
                Err(failure) => Err(failure),
            };
            match renewed {
                Ok(response) if response.status() == StatusCode::CONFLICT => return refusal(response).await,
                // One that did not come through is made again: the lease has half of its life left.
                _ => {}
            }
        }
    }

    /// Ends the lease without a value.
    pub(super) async fn give_back(&self, lease: &Granted) -> Result<(), Failure> {
        self.client.send(self.with(Method::DELETE, lease)?).await.map(drop)
    }

    fn put(&self, lease: &Granted, ttl_ms: Option<u64>) -> Result<RequestBuilder, Failure> {
        let request = self.with(Method::PUT, lease)?;
        Ok(ttl_ms.iter().fold(request, |request, ttl_ms| request.query(&[("ttl_ms", ttl_ms)])))
    }

    fn with(&self, method: Method, lease: &Granted) -> Result<RequestBuilder, Failure> {
        Ok(self.request(method)?.header(LEASE, &lease.lease))
    }

    fn request(&self, method: Method) -> Result<RequestBuilder, Failure> {
        self.client.request(method, &["v1", "cache", self.space, self.id, "lease"])
    }
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Here(failure)
    }
}

impl From<Refused> for Undone {
    fn from(refused: Refused) -> Self {
        match refused.is_of_all() {
            true => Self::Everywhere(refused.failure()),
            false => Self::Here(refused.failure()),
        }
    }
}

impl From<Undone> for Failure {
    fn from(undone: Undone) -> Self {
        match undone {
            Undone::Here(failure) | Undone::Everywhere(failure) => failure,
        }
    }
}

fn to_replace(headers: &HeaderMap) -> Option<Granted> {
    let text = |name| headers.get(name)?.to_str().ok();
    Some(Granted { lease: text(LEASE)?.to_owned(), lease_ms: text(LEASE_MS)?.parse().ok()? })
}
