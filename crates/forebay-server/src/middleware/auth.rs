//! Who may call: bearer tokens, in the header `Authorization` alone.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header::AUTHORIZATION},
    middleware::Next,
    response::Response,
};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    app::Shared,
    config::{Auth, Hash, Scope},
    error::{Kind, Problem},
};

/// The known tokens, as hashes. If there are none, everybody may do everything.
#[derive(Debug)]
pub(crate) struct Tokens(Vec<(Hash, Vec<Scope>)>);

impl Tokens {
    pub(crate) fn new(auth: &Auth) -> Self {
        Self(auth.tokens.iter().map(|token| (token.sha256, token.scopes.clone())).collect())
    }

    /// Passes whoever shows a token with `scope`.
    pub(crate) fn require(&self, scope: Scope, headers: &HeaderMap) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let scopes = bearer(headers).and_then(|token| self.scopes(token));
        match scopes {
            Some(scopes) if scopes.contains(&scope) => Ok(()),
            Some(_) => {
                let detail = format!("the token has not the scope `{}`", scope.name());
                Err(Problem::new(Kind::Forbidden, detail))
            }
            None => Err(Problem::new(
                Kind::Unauthorized,
                "send a known token, once, as `Authorization: Bearer <token>`",
            )),
        }
    }

    /// Compares with every known token, so that the time it takes tells nothing about them.
    fn scopes(&self, token: &[u8]) -> Option<&[Scope]> {
        let hash = Sha256::digest(token);
        let mut found = None;
        for (known, scopes) in &self.0 {
            if bool::from(known.0.ct_eq(hash.as_slice())) {
                found = Some(scopes.as_slice());
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
    app.tokens.require(Scope::Data, request.headers())?;
    Ok(next.run(request).await)
}

/// The layer of the routes that show figures.
pub(crate) async fn require_read(
    State(app): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    app.tokens.require(Scope::Read, request.headers())?;
    Ok(next.run(request).await)
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}
