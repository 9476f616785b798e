//! Whether somebody waits for more of a request's body.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

/// The body of a request, as seen from outside of its handler.
#[derive(Debug, Clone, Default)]
pub(super) struct Upload(Arc<AtomicBool>);

impl Upload {
    /// Watches the body of `request`.
    pub(super) fn watch(request: Request) -> (Request, Self) {
        let upload = Self::default();
        let request = request.map(|body| Body::new(Watched { body, upload: upload.clone() }));
        (request, upload)
    }

    /// Whether the handler asked for more of the body than has arrived.
    pub(super) fn is_awaited(&self) -> bool {
        self.0.load(Relaxed)
    }
}

struct Watched {
    body: Body,
    upload: Upload,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        self.upload.0.store(polled.is_pending(), Relaxed);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
