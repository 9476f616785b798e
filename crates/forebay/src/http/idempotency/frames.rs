//! Reads bodies frame by frame.

use std::{
    ops::DerefMut,
    pin::{Pin, pin},
};

use bytes::Bytes;
use http_body::{Body, Frame};

/// All of a body, unless it has more than `most` bytes, or fails.
pub(super) async fn collect<B: Body<Data = Bytes>>(body: B, most: usize) -> Result<Bytes, Unfit> {
    let most_hinted = u64::try_from(most).unwrap_or(u64::MAX);
    if body.size_hint().lower() > most_hinted {
        return Err(Unfit::TooLarge);
    }
    let mut body = pin!(body);
    let mut parts = Vec::new();
    let mut length = 0;
    while let Some(frame) = frame(&mut body).await {
        let Ok(data) = frame.map_err(|_| Unfit::Unreadable)?.into_data() else { continue };
        length += data.len();
        if length > most {
            return Err(Unfit::TooLarge);
        }
        parts.push(data);
    }
    Ok(join(parts))
}

/// Why a body cannot be had whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfit {
    TooLarge,
    Unreadable,
}

/// The next frame of a body.
pub(super) async fn frame<B: Body>(
    body: &mut Pin<impl DerefMut<Target = B>>,
) -> Option<Result<Frame<B::Data>, B::Error>> {
    std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await
}

/// Parts as one; a single one is not copied.
pub(super) fn join(mut parts: Vec<Bytes>) -> Bytes {
    match parts.len() {
        1 => parts.remove(0),
        _ => parts.concat().into(),
    }
}
