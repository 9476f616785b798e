//! Pages of strangers in a browser on this machine, where no token is needed: the browser reaches the server, and asks
//! for them.
//!
//! Forged requests are refused as Go's `http.CrossOriginProtection` does: by `Sec-Fetch-Site` (Fetch Metadata), or by
//! `Origin` where a browser does not send it. A name that a stranger's DNS leads to this machine ("DNS rebinding") is
//! refused by the header `Host`. Tokens make both needless, as no browser adds them by itself.

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue,
        header::{HOST, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::Response,
};

use crate::{
    app::Shared,
    error::{Kind, Problem},
};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what a page of somebody else has a browser ask.
pub(crate) async fn strangers(
    State(app): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if app.tokens.are_needless() {
        named_as_this_machine(request.headers())?;
        if !request.method().is_safe() {
            asked_by_own_page(request.headers())?;
        }
    }
    Ok(next.run(request).await)
}

fn named_as_this_machine(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(name) = headers.get_all(HOST).iter().find(|host| !is_this_machine(host.as_bytes())) else {
        return Ok(());
    };
    let detail = format!(
        "without tokens the server answers to `localhost` and to addresses, not to the name {name:?}; add a token \
         to the settings if it is to be called by that"
    );
    Err(Problem::new(Kind::Forbidden, detail))
}

fn is_this_machine(host: &[u8]) -> bool {
    let Ok(authority) = Authority::try_from(host) else { return false };
    let name = authority.host();
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let name = name.to_ascii_lowercase();
    address.parse::<IpAddr>().is_ok() || name == "localhost" || name.ends_with(".localhost")
}

fn asked_by_own_page(headers: &HeaderMap) -> Result<(), Problem> {
    let is_own = match (headers.get(&SEC_FETCH_SITE), headers.get(ORIGIN)) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(origin)) => is_origin_of(origin.as_bytes(), headers),
        (None, None) => true,
    };
    let detail =
        "a page of another origin has a browser ask this; without tokens only the server's own page may";
    if is_own { Ok(()) } else { Err(Problem::new(Kind::Forbidden, detail)) }
}

fn is_origin_of(origin: &[u8], headers: &HeaderMap) -> bool {
    let place = origin.windows(3).position(|part| part == b"://").map(|at| &origin[at + 3..]);
    place.is_some() && place == headers.get(HOST).map(HeaderValue::as_bytes)
}
