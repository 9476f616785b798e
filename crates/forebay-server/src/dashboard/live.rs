//! `GET /dashboard/live`: the figures each second, as Server-Sent Events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::Body,
    extract::State,
    http::Uri,
    response::{IntoResponse, Response},
};
use futures::stream;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::PAGES;
use crate::{
    api::{EVENT_STREAM, UNBUFFERED},
    app::Shared,
    connections::Awaited,
    error::{Kind, Problem},
    extract::Query,
};

/// When to come back where too many pages are open.
const AGAIN: Duration = Duration::from_secs(10);

/// What there is to send. A page that is slow misses what is between.
#[derive(Debug, Clone, Default)]
pub(super) struct Frames {
    pub(super) now: Arc<str>,
    pub(super) lists: Arc<str>,
    /// How often the lists have changed.
    edition: u64,
}

impl Frames {
    pub(super) fn replace(&mut self, now: String, lists: String) {
        self.now = now.into();
        if *self.lists != *lists {
            self.lists = lists.into();
            self.edition += 1;
        }
    }
}

/// An event called `name`.
pub(super) fn frame(name: &str, members: &impl Serialize) -> String {
    let json = serde_json::to_string(members).expect("members have a JSON form");
    format!("event: {name}\ndata: {json}\n\n")
}

/// One open page.
struct Page {
    app: Shared,
    frames: watch::Receiver<Frames>,
    /// The edition of the lists that it was sent last.
    edition: u64,
    _seat: OwnedSemaphorePermit,
}

/// Sends the figures for as long as the page is open.
#[utoipa::path(
    get, path = "/dashboard/live", tag = "figures",
    responses(
        (status = 200, description = "Server-Sent Events `now` and `lists`", content(("text/event-stream")), headers(("X-Accel-Buffering"))),
    ),
    extensions(("x-problems" = json!([Kind::TooManyStreams]))),
)]
pub(crate) async fn live(
    State(app): State<Shared>,
    Extension(awaited): Extension<Awaited>,
    uri: Uri,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let seat = app.dashboard.seats.clone().try_acquire_owned().map_err(|_| {
        let detail = format!("{PAGES} pages are open, the most there can be; close one, or come back later");
        Problem::new(Kind::TooManyStreams, detail).retry_after(AGAIN)
    })?;
    awaited.no_longer();
    let mut frames = app.dashboard.frames.subscribe();
    frames.mark_changed();
    let page = Page { app, frames, edition: 0, _seat: seat };
    let frames = stream::unfold(page, async |mut page| {
        let text = page.next().await?;
        Some((Ok::<_, Infallible>(text), page))
    });
    Ok(([EVENT_STREAM, UNBUFFERED], Body::from_stream(frames)).into_response())
}

impl Page {
    /// What to send next; nothing once the server shuts down.
    async fn next(&mut self) -> Option<String> {
        tokio::select! {
            biased;
            () = self.app.draining.cancelled() => None,
            changed = self.frames.changed() => changed.ok().map(|()| self.text()),
        }
    }

    fn text(&mut self) -> String {
        let frames = self.frames.borrow_and_update();
        let mut text = frames.now.to_string();
        if frames.edition != self.edition {
            self.edition = frames.edition;
            text += &frames.lists;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_a_new_edition_only_where_they_have_changed() {
        let mut frames = Frames::default();
        for (lists, edition) in [("a", 1), ("a", 1), ("b", 2)] {
            frames.replace("now".to_owned(), lists.to_owned());
            assert_eq!(frames.edition, edition);
        }
    }
}
