//! A client of events, which reads them as they are sent.

use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::time::timeout;

use crate::support::Server;

/// Longer than anything takes but the comments that keep a connection alive.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What a client is sent.
pub(super) struct Events {
    response: Response,
    text: String,
}

/// One event, or a comment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) data: Option<String>,
}

impl Events {
    /// Listens, from the first frame on.
    pub(super) async fn of(server: &Server, path: &str, last: Option<&str>) -> (Self, Event) {
        let mut request = server.get(path).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        let mut events = Self { response, text: String::new() };
        let hello = events.next().await.unwrap();
        (events, hello)
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        timeout(PATIENCE, self.read()).await.expect("something is sent")
    }

    async fn read(&mut self) -> Option<Event> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let event = Event::parse(frame);
                self.text = rest.to_owned();
                return Some(event);
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.text += str::from_utf8(&chunk).unwrap();
        }
    }

    pub(super) async fn data(&mut self) -> String {
        self.next().await.unwrap().data.unwrap()
    }
}

impl Event {
    fn parse(frame: &str) -> Self {
        let mut event = Self::default();
        for line in frame.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => event.id = Some(id.to_owned()),
                Some(("event", kind)) => event.kind = Some(kind.to_owned()),
                Some(("data", data)) => {
                    let before = event.data.take().map(|data| data + "\n").unwrap_or_default();
                    event.data = Some(before + data);
                }
                _ => {}
            }
        }
        event
    }

    pub(super) fn is_deaf(&self, why: &str) -> bool {
        self.kind.as_deref() == Some("deaf") && self.data.as_ref().is_some_and(|data| data.contains(why))
    }

    /// How many messages it says were missed.
    pub(super) fn missed(&self) -> Option<usize> {
        let data: Value =
            serde_json::from_str(self.data.as_ref().filter(|_| self.is_deaf("missed"))?).unwrap();
        data["missed"].as_u64()?.try_into().ok()
    }
}
