//! `/v1/events/{topic}`: messages to whoever listens, as Server-Sent Events.
//!
//! The format of the stream is that of the HTML standard, section "Server-sent events".

mod frame;

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use forebay::topic::{Id, MOST_BYTES, Subscription};
use futures::stream;
use serde::Serialize;
use tokio::time::sleep;
use utoipa::ToSchema;

use super::answer;
use crate::{
    app::Shared,
    connections::Awaited,
    error::{Kind, Problem},
    extract::{self, AskedTopic, Query},
    topics::{Asked, Seat},
};

/// When a client comes back that was cut off, or for which there was no room.
pub(crate) const AGAIN: Duration = Duration::from_secs(2);

/// How often something is sent, so that nobody on the way takes the connection for a dead one.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Keeps proxies from holding events back (nginx).
pub(crate) const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

pub(crate) const EVENT_STREAM: (HeaderName, HeaderValue) =
    (CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));

/// A message that is kept.
#[derive(Debug, Serialize, ToSchema)]
struct Published {
    id: String,
}

/// Publishes the body, which is the message.
#[utoipa::path(
    post, path = "/v1/events/{topic}", tag = "events",
    request_body(content = String, content_type = "text/plain", description = "The message, at most 64 KiB of text"),
    responses(
        (status = 204, description = "It is published"),
        (status = 201, description = "It is published, and kept: the topic is durable", body = Published),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::UnsupportedContentEncoding, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn publish(
    AskedTopic(topic): AskedTopic,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    extract::unencoded(&headers)?;
    let message = extract::content(body, MOST_BYTES).await?;
    if str::from_utf8(&message).is_err() {
        let detail = "the body is the message, and must be text in UTF-8: events are";
        return Err(Problem::new(Kind::InvalidBody, detail));
    }
    match topic {
        Asked::Live(topic) => {
            topic.publish(&message).await?;
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        Asked::Durable(topic) => {
            let id = topic.publish(&message).await?;
            Ok((StatusCode::CREATED, answer::json(&Published { id: id.to_string() })).into_response())
        }
    }
}

/// Sends what is published for as long as the client listens.
#[utoipa::path(
    get, path = "/v1/events/{topic}", tag = "events",
    params(
        ("Last-Event-ID" = Option<String>, Header, nullable = false, description = "The id of the last event that the client has seen, of a durable topic"),
    ),
    responses(
        (status = 200, description = "The messages from now on, or after that id: Server-Sent Events", content(("text/event-stream")), headers(("X-Accel-Buffering"))),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::TooManyStreams, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn listen(
    State(app): State<Shared>,
    Extension(awaited): Extension<Awaited>,
    AskedTopic(topic): AskedTopic,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let after = last_event_id(&headers)?;
    let seat = app.topics.seat(&topic)?;
    let (subscription, has_missed) = match (topic, after) {
        (Asked::Durable(topic), Some(id)) => (topic.subscribe_from(id), false),
        (Asked::Durable(topic), None) => (topic.subscribe().await, false),
        // It kept its messages when the client was told that id.
        (Asked::Live(topic), after) => (topic.subscribe().await, after.is_some()),
    };
    let mut first = frame::hello(AGAIN, subscription.last_id());
    if has_missed {
        first += &frame::missed(None);
    }
    awaited.no_longer();
    let listener = Listener { subscription, app, first: Some(first), _seat: seat };
    let frames = stream::unfold(listener, async |mut listener| {
        let frame = listener.next().await?;
        Some((Ok::<_, Infallible>(frame), listener))
    });
    Ok(([EVENT_STREAM, UNBUFFERED], Body::from_stream(frames)).into_response())
}

/// The id of the last event that the client has seen.
fn last_event_id(headers: &HeaderMap) -> Result<Option<Id>, Problem> {
    let refuse = |why: &str| Problem::new(Kind::InvalidHeader, format!("the header `Last-Event-ID` {why}"));
    let mut values = headers.get_all(&LAST_EVENT_ID).iter().filter(|value| !value.is_empty());
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(refuse("is given more than once")),
        (Some(value), None) => {
            let id = value.to_str().ok().and_then(|text| text.parse().ok());
            let why =
                "holds no id of an event, such as 1799999999999-42; send the last `id`, or leave it out";
            id.map(Some).ok_or_else(|| refuse(why))
        }
    }
}

/// One client.
struct Listener {
    subscription: Subscription,
    app: Shared,
    first: Option<String>,
    _seat: Seat,
}

impl Listener {
    /// What to send next; nothing once the server shuts down.
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        tokio::select! {
            biased;
            () = self.app.draining.cancelled() => None,
            heard = self.subscription.next() => heard.map(|heard| frame::of(&heard)),
            () = sleep(KEEP_ALIVE) => Some(frame::KEEP_ALIVE.to_owned()),
        }
    }
}
