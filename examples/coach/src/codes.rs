//! `POST /auth/code`: a code by mail, of which an address gets one a minute.

use std::time::Duration;

use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use forebay::{Token, http::RateLimitLayer, once::Claim};
use serde::{Deserialize, Serialize};

use crate::{
    body::{Body, Example},
    problem::Problem,
    service::Coach,
};

const COOLDOWN: Duration = Duration::from_secs(60);

/// The longest address that mail can be sent to, in bytes (RFC 5321, 4.5.3.1.3, without the angle brackets).
const LONGEST: usize = 254;

/// The cooldown is per mailbox; `limited` is in front, so that nobody fills many.
pub(crate) fn router(limited: RateLimitLayer) -> Router<Coach> {
    Router::new().route("/auth/code", post(send).layer(limited))
}

#[derive(Deserialize)]
struct To {
    email: String,
}

impl Example for To {
    const EXAMPLE: &str = r#"{"email": "ada@example.org"}"#;
}

#[derive(Serialize)]
struct Sent {
    sent_to: String,
    again_in: u64,
}

async fn send(
    State(coach): State<Coach>,
    Body(To { email }): Body<To>,
) -> Result<(StatusCode, Json<Sent>), Problem> {
    let email = mailbox(&email).ok_or_else(Problem::no_address)?;
    coach.send_code(&email).await?;
    Ok((StatusCode::ACCEPTED, Json(Sent { sent_to: email, again_in: COOLDOWN.as_secs() })))
}

/// One mailbox however it is written, or each spelling would have a cooldown of its own.
fn mailbox(text: &str) -> Option<String> {
    let email = text.trim().to_lowercase();
    let (name, domain) = email.rsplit_once('@')?;
    let is_sane =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control());
    let fits = email.len() <= LONGEST && is_sane(name) && is_sane(domain) && !name.contains('@');
    fits.then_some(email)
}

impl Coach {
    async fn send_code(&self, email: &str) -> Result<(), Problem> {
        let name = format!("code:{email}");
        let token = match self.forebay.claim(&name, COOLDOWN).await? {
            Claim::Claimed { token, .. } => token,
            Claim::Taken { retry_after } => return Err(Problem::too_soon(retry_after)),
        };
        let delivered = self.store.deliver(email, &code()).await;
        if delivered.is_err() {
            // Nothing was sent, so nobody need wait; should this fail as well, the minute passes by itself.
            self.forebay.unclaim(&name, token).await.ok();
        }
        Ok(delivered?)
    }
}

/// Eight digits that nobody guesses.
fn code() -> String {
    let mut code = Token::random().to_string();
    code.truncate(8);
    code
}
