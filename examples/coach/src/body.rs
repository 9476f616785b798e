//! A JSON body, whatever its content type says; where it is none, the answer shows what to send.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, Request, rejection::BytesRejection},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::problem::Problem;

/// What a route is sent.
pub(crate) trait Example: DeserializeOwned {
    const EXAMPLE: &str;
}

/// The longest text that is taken, in bytes: models are paid by the token.
const LONGEST: usize = 2_000;

/// What somebody wrote, who wrote something and not too much.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Text(String);

impl TryFrom<String> for Text {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let fits = text.len() <= LONGEST && !text.trim().is_empty();
        if fits {
            Ok(Self(text))
        } else {
            Err(format!("a text has 1 to {LONGEST} bytes, not all of them blanks"))
        }
    }
}

impl From<Text> for String {
    fn from(Text(text): Text) -> Self {
        text
    }
}

pub(crate) struct Body<T>(pub(crate) T);

impl<S: Sync, T: Example> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let malformed = |why: String| Problem::malformed(&why, T::EXAMPLE);
        // Too long, for most.
        let unreadable = |why: BytesRejection| Problem::unreadable(why.status(), &why.body_text());
        let bytes = Bytes::from_request(request, &()).await.map_err(unreadable)?;
        let Json(said) = Json::from_bytes(&bytes).map_err(|why| malformed(why.body_text()))?;
        Ok(Self(said))
    }
}
