//! `GET /dashboard/rights`: what the page may offer to whoever looks at it.

use axum::{
    extract::State,
    http::{HeaderMap, Uri},
    response::Response,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    api::answer,
    app::Shared,
    config::Scope,
    error::{Kind, Problem},
    extract::Query,
};

/// What a token is good for; without tokens everything is allowed.
#[derive(Debug, Serialize, ToSchema)]
struct Rights {
    /// What its holder is called.
    name: Option<String>,
    scopes: Vec<&'static str>,
}

/// Answers whoever shows a known token.
#[utoipa::path(
    get, path = "/dashboard/rights", tag = "figures",
    responses(
        (status = 200, description = "The scopes of the token that is shown; without tokens all", body = Rights),
    ),
    extensions(("x-problems" = json!([Kind::Unauthorized]))),
)]
pub(crate) async fn rights(
    State(app): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let token = app.tokens.shown(&headers)?;
    let all = [Scope::Data, Scope::Read, Scope::Ops];
    let scopes = all.into_iter().filter(|scope| token.is_none_or(|token| token.scopes.contains(scope)));
    Ok(answer::json(&Rights {
        name: token.map(|token| token.name.clone()),
        scopes: scopes.map(Scope::name).collect(),
    }))
}
