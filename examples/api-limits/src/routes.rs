//! The routes: which limits lie in front of each, and what it answers.

use axum::{
    Form, Json, Router,
    http::StatusCode,
    routing::{get, post},
};
use forebay::http::Caller;
use serde::{Deserialize, Serialize};

use crate::{keys::Known, limits::Limits, problem::Problem};

pub(crate) fn router(limits: Limits) -> Router {
    Router::new()
        .route("/quote", get(quote).layer(limits.api.clone()))
        .route("/report", get(report).layer(limits.api.cost(|_| 5)))
        .route("/sign-in", post(sign_in).layer(limits.sign_in))
        .layer(limits.callers)
        // After the layers, which lie in front of what was added before them: not limited.
        .route("/livez", get(async || "ok\n"))
}

#[derive(Serialize)]
struct Answer {
    answer: &'static str,
    /// Whose quota it was taken from.
    caller: String,
    tier: String,
}

impl Answer {
    fn to(caller: &Caller, answer: &'static str) -> Json<Self> {
        Json(Self { answer, caller: caller.subject().to_string(), tier: caller.tier().into() })
    }
}

async fn quote(Known(caller): Known) -> Json<Answer> {
    Answer::to(&caller, "Still waters run deep.")
}

async fn report(Known(caller): Known) -> Json<Answer> {
    Answer::to(&caller, "Five times the work of a quote.")
}

#[derive(Deserialize)]
struct SignIn {
    user: String,
    password: String,
}

async fn sign_in(Form(SignIn { user, password }): Form<SignIn>) -> Result<&'static str, Problem> {
    match (&*user, &*password) {
        ("ada", "lovelace") => Ok("welcome\n"),
        _ => Err(Problem(StatusCode::FORBIDDEN, "the name or the password is wrong")),
    }
}
