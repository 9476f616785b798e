//! Sign-up codes, of which an address gets one a minute.

use std::time::Duration;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{State, rejection::JsonRejection},
    http::StatusCode,
    routing::post,
};
use forebay::{Forebay, Token, once::Claim};
use serde::{Deserialize, Serialize};

use crate::{outside::Post, problem::Problem};

const COOLDOWN: Duration = Duration::from_secs(60);

/// The longest address that mail can be sent to, in bytes (RFC 5321, 4.5.3.1.3, without the angle brackets).
const LONGEST: usize = 254;

#[derive(Clone)]
struct Codes {
    forebay: Forebay,
    post: Post,
}

pub(crate) fn router(forebay: Forebay, post_office: Post) -> Router {
    Router::new().route("/codes", post(send)).with_state(Codes { forebay, post: post_office })
}

#[derive(Deserialize)]
struct To {
    email: String,
}

#[derive(Serialize)]
struct Sent {
    sent_to: String,
    again_in: u64,
}

async fn send(State(codes): State<Codes>, body: Bytes) -> Result<(StatusCode, Json<Sent>), Problem> {
    let Json(To { email }) = Json::from_bytes(&body).map_err(|why: JsonRejection| Problem::no_email(&why))?;
    let email = address(&email).ok_or_else(Problem::no_address)?;
    codes.send(&email).await?;
    Ok((StatusCode::ACCEPTED, Json(Sent { sent_to: email, again_in: COOLDOWN.as_secs() })))
}

/// One address however it is written, or each spelling would have a cooldown of its own. Whether there is a box behind it
/// only a mail can tell.
fn address(text: &str) -> Option<String> {
    let email = text.trim().to_lowercase();
    let (name, domain) = email.rsplit_once('@')?;
    let is_sane =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control());
    let fits = email.len() <= LONGEST && is_sane(name) && is_sane(domain) && !name.contains('@');
    fits.then_some(email)
}

impl Codes {
    async fn send(&self, email: &str) -> Result<(), Problem> {
        let name = format!("code:{email}");
        let token = match self.forebay.claim(&name, COOLDOWN).await? {
            Claim::Claimed { token, .. } => token,
            Claim::Taken { retry_after } => return Err(Problem::too_soon(retry_after)),
        };
        let sent = self.post.deliver(email, &code()).await;
        if let Err(why) = sent {
            // Nothing was sent, so nobody need wait; should this fail as well, the minute passes by itself.
            self.forebay.unclaim(&name, token).await.ok();
            return Err(Problem::undeliverable(&why));
        }
        Ok(())
    }
}

/// Eight digits that nobody guesses.
fn code() -> String {
    let mut code = Token::random().to_string();
    code.truncate(8);
    code
}
