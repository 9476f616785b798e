//! Who may call: bearer tokens, in the header `Authorization` alone.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header::AUTHORIZATION},
    middleware::Next,
    response::Response,
};
use forebay::{Subject, http::Identity};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    api::invalidate::MATCHING,
    app::Shared,
    config::{Auth, Scope, Token},
    error::{Kind, Problem},
    extract::Query,
};

/// The known tokens. If there are none, everybody may do everything.
#[derive(Debug)]
pub(crate) struct Tokens(Vec<Token>);

impl Tokens {
    pub(crate) fn new(auth: &Auth) -> Self {
        Self(auth.tokens.clone())
    }

    /// Whether everybody may do everything.
    pub(crate) fn are_needless(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose token is shown, if it is a known one.
    pub(crate) fn identify(&self, headers: &HeaderMap) -> Option<Identity> {
        let token = self.find(bearer(headers)?)?;
        let identity = Identity::new(Subject::key(&token.name));
        Some(match &token.tier {
            Some(tier) => identity.tier(tier.as_str()),
            None => identity,
        })
    }

    /// The token that is shown; none is needed where there are none.
    pub(crate) fn shown(&self, headers: &HeaderMap) -> Result<Option<&Token>, Problem> {
        if self.are_needless() {
            return Ok(None);
        }
        let unknown = || {
            Problem::new(Kind::Unauthorized, "send a known token, once, as `Authorization: Bearer <token>`")
        };
        bearer(headers).and_then(|token| self.find(token)).map(Some).ok_or_else(unknown)
    }

    /// Passes whoever shows a token with one of `scopes`.
    pub(crate) fn require(&self, scopes: &[Scope], headers: &HeaderMap) -> Result<(), Problem> {
        match self.shown(headers)? {
            Some(token) if !scopes.iter().any(|scope| token.scopes.contains(scope)) => {
                let names: Vec<_> = scopes.iter().map(|scope| format!("`{}`", scope.name())).collect();
                let detail = format!("the token lacks the scope {}", names.join(" or "));
                Err(Problem::new(Kind::Forbidden, detail))
            }
            _ => Ok(()),
        }
    }

    /// Compares with every known token, so that the time it takes tells nothing about them.
    fn find(&self, token: &[u8]) -> Option<&Token> {
        let hash = Sha256::digest(token);
        let mut found = None;
        for known in &self.0 {
            if bool::from(known.sha256.0.ct_eq(hash.as_slice())) {
                found = Some(known);
            }
        }
        found
    }
}

/// The layer of the routes below `/v1`.
pub(crate) async fn require_data(
    State(app): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    app.tokens.require(&[Scope::Data], request.headers())?;
    Ok(next.run(request).await)
}

/// The layer of what operators may do too, as the page lets them. To go through all of a store is for them alone.
pub(crate) async fn require_data_or_ops(
    State(app): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    // As the handler reads it: what is no query is refused there.
    let by_pattern =
        Query::read(request.uri(), &[MATCHING]).is_ok_and(|query| query.text(MATCHING).is_some());
    let scopes: &[Scope] = if by_pattern { &[Scope::Ops] } else { &[Scope::Data, Scope::Ops] };
    app.tokens.require(scopes, request.headers())?;
    Ok(next.run(request).await)
}

/// The layer of the routes for operators.
pub(crate) async fn require_ops(
    State(app): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    app.tokens.require(&[Scope::Ops], request.headers())?;
    Ok(next.run(request).await)
}

/// The layer of the routes that show figures.
pub(crate) async fn require_read(
    State(app): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    app.tokens.require(&[Scope::Read], request.headers())?;
    Ok(next.run(request).await)
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}
