//! The body of an answer behind the layer: the handler's own, one that is recorded on its way, or one of the layer's.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc::UnboundedReceiver;

type Failure = Box<dyn Error + Send + Sync>;

/// The body of an answer that an [`IdempotencyLayer`](super::IdempotencyLayer) has let through, recorded or given.
pub struct IdempotentBody<R: Body>(Kind<R>);

enum Kind<R: Body> {
    /// The handler's.
    Own(Pin<Box<R>>),
    /// The handler's, which is recorded in a task of its own. It comes with what is left of its size.
    Recorded(UnboundedReceiver<Piece<R>>, SizeHint),
    /// The layer's.
    Whole(Option<Bytes>),
}

/// What comes of a body that is recorded.
pub(super) enum Piece<R: Body> {
    Frame(Frame<Bytes>),
    Failed(R::Error),
    /// The rest, which is not recorded.
    Rest(Pin<Box<R>>),
    End,
}

impl<R: Body> IdempotentBody<R> {
    pub(super) fn own(body: R) -> Self {
        Self(Kind::Own(Box::pin(body)))
    }

    pub(super) fn recorded(pieces: UnboundedReceiver<Piece<R>>, size: SizeHint) -> Self {
        Self(Kind::Recorded(pieces, size))
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }
}

impl<R: Body> From<String> for IdempotentBody<R> {
    fn from(text: String) -> Self {
        Self::whole(text.into())
    }
}

// Nothing is pinned by itself: the handler's body is in a box.
impl<R: Body> Unpin for IdempotentBody<R> {}

impl<R> Body for IdempotentBody<R>
where
    R: Body<Data = Bytes, Error: Into<Failure>>,
{
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        loop {
            let pieces = match &mut self.0 {
                Kind::Own(body) => return body.as_mut().poll_frame(context).map_err(Into::into),
                Kind::Whole(bytes) => return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
                Kind::Recorded(pieces, _) => pieces,
            };
            let answer = match ready!(pieces.poll_recv(context)) {
                Some(Piece::Frame(frame)) => Some(Ok(self.passed(frame))),
                Some(Piece::Failed(error)) => Some(Err(error.into())),
                Some(Piece::Rest(body)) => {
                    self.0 = Kind::Own(body);
                    continue;
                }
                Some(Piece::End) => {
                    self.0 = Kind::Whole(None);
                    None
                }
                // Not an end: what was sent is not all of it.
                None => Some(Err("the answer was cut off".into())),
            };
            return Poll::Ready(answer);
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Own(body) => body.is_end_stream(),
            Kind::Recorded(..) => false,
            Kind::Whole(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Own(body) => body.size_hint(),
            Kind::Recorded(_, size) => *size,
            Kind::Whole(bytes) => SizeHint::with_exact(
                bytes.as_ref().map_or(0, |bytes| bytes.len().try_into().unwrap_or(u64::MAX)),
            ),
        }
    }
}

impl<R: Body> IdempotentBody<R> {
    /// Takes a frame out of the size that is still to come.
    fn passed(&mut self, frame: Frame<Bytes>) -> Frame<Bytes> {
        let length = frame.data_ref().map_or(0, |data| data.len().try_into().unwrap_or(u64::MAX));
        if let Kind::Recorded(_, size) = &mut self.0 {
            let upper = size.upper().map(|upper| upper.saturating_sub(length));
            let lower = size.lower().saturating_sub(length);
            *size = SizeHint::new();
            size.set_lower(lower);
            if let Some(upper) = upper {
                size.set_upper(upper);
            }
        }
        frame
    }
}

impl<R: Body> fmt::Debug for IdempotentBody<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Own(_) => "IdempotentBody(the handler's)",
            Kind::Recorded(..) => "IdempotentBody(recorded)",
            Kind::Whole(_) => "IdempotentBody(the layer's)",
        })
    }
}
