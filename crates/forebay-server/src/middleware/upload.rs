//! The body of a request, as seen from outside of its handler.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

/// How far a body has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Read {
    Not,
    /// To where it has arrived.
    AsItCame,
    /// Further than it has arrived.
    Awaited,
}

/// The body of a request, as seen from outside of its handler.
#[derive(Debug, Clone, Default)]
pub(super) struct Upload(Arc<Seen>);

#[derive(Debug, Default)]
struct Seen {
    read: AtomicU8,
    rest: Mutex<Option<Body>>,
}

impl Upload {
    /// Watches the body of `request`.
    pub(super) fn watch(request: Request) -> (Request, Self) {
        let upload = Self::default();
        let mut request =
            request.map(|body| Body::new(Watched { body, seen: upload.0.clone(), has_ended: false }));
        request.extensions_mut().insert(upload.clone());
        (request, upload)
    }

    /// Whether somebody has begun to read it.
    pub(super) fn is_begun(&self) -> bool {
        self.0.read.load(Relaxed) != Read::Not as u8
    }

    /// Whether the handler asked for more of the body than has arrived.
    pub(super) fn is_awaited(&self) -> bool {
        self.0.read.load(Relaxed) == Read::Awaited as u8
    }

    /// What the handler has left of it, once it has let go of it.
    pub(super) fn rest(&self) -> Option<Body> {
        self.0.rest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

struct Watched {
    body: Body,
    seen: Arc<Seen>,
    has_ended: bool,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let read = if polled.is_pending() { Read::Awaited } else { Read::AsItCame };
        self.seen.read.store(read as u8, Relaxed);
        self.has_ended |= !matches!(polled, Poll::Pending | Poll::Ready(Some(Ok(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.has_ended && !self.body.is_end_stream() {
            let rest = std::mem::take(&mut self.body);
            *self.seen.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
        }
    }
}
