//! Layers for tower, and extractors for axum: who is asking, resolved once, how much they may, and what is done once.
//!
//! | to see | read |
//! |---|---|
//! | who a caller is | `caller`, `identity`, then `caller_layer` for how that is found out |
//! | which address is believed | `addresses`, `forwarded` for what proxies say, `peer` |
//! | how a visitor without an account is known again | `anonymous` |
//! | how requests are limited | `rate_limit`, with `whose` for the quotas that they are taken from |
//! | how callers are counted as visitors | `unique` |
//! | what an answer says of it | `headers`, `refusal`, `problem` |
//! | how a request is carried out once | `idempotency` |
//!
//! # Example
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::convert::Infallible;
//! use forebay::http::{Addresses, Caller, CallerLayer, Peer};
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! let service = ServiceBuilder::new()
//!     .layer(CallerLayer::new(Addresses::new().trusted(["10.0.0.0/8"])?))
//!     .service(service_fn(async |request: Request<()>| {
//!         let caller = request.extensions().get::<Caller>().expect("the layer is in front");
//!         Ok::<_, Infallible>(Response::new(caller.subject().to_string()))
//!     }));
//!
//! let mut request = Request::new(());
//! request.extensions_mut().insert(Peer::from("10.0.0.7".parse::<std::net::IpAddr>()?));
//! request.headers_mut().insert("x-forwarded-for", "203.0.113.9".parse()?);
//! assert_eq!(service.oneshot(request).await?.into_body(), "address:203.0.113.9");
//! # Ok(())
//! # }
//! ```

mod addresses;
mod anonymous;
mod caller;
mod caller_layer;
#[cfg(feature = "axum")]
mod extract;
mod forwarded;
mod headers;
mod idempotency;
mod identity;
mod peer;
mod problem;
mod rate_limit;
mod refusal;
mod unique;
mod whose;

pub use self::{
    addresses::Addresses,
    anonymous::AnonymousIds,
    caller::Caller,
    caller_layer::{CallerLayer, CallerService},
    forwarded::ForwardedList,
    headers::HeaderStyle,
    idempotency::{Effect, IdempotencyLayer, Idempotent, IdempotentBody},
    identity::Identity,
    peer::Peer,
    rate_limit::{RateLimit, RateLimitLayer},
    unique::{UniqueLayer, UniqueService},
    whose::Whose,
};
