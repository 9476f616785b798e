//! Runs a handler in a task of its own, and records its answer whatever becomes of the client.

use std::{any::Any, future::Future, panic::AssertUnwindSafe, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::FutureExt;
use http::Response;
use http_body::{Body, Frame};
use tokio::sync::{mpsc, oneshot};

use super::{
    Rules,
    answer::Answer,
    body::{IdempotentBody, Piece},
    effect::Effect,
    frames::{frame, join},
};
use crate::once::Execution;

/// How long an answer may go on that nobody receives any more.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// What a handler has come to: its answer, its error, or a panic.
pub(super) type Outcome<R, E> = Result<Result<Response<IdempotentBody<R>>, E>, Box<dyn Any + Send>>;

/// Runs a handler for an execution.
pub(super) struct Recorder<R: Body, E> {
    pub(super) execution: Execution,
    pub(super) rules: Arc<Rules>,
    pub(super) outcome: oneshot::Sender<Outcome<R, E>>,
}

impl<R, E> Recorder<R, E>
where
    R: Body<Data = Bytes> + Send,
    R::Error: Send,
    E: Send,
{
    /// Runs `handler`. What ends without an answer is indeterminate.
    pub(super) async fn run(self, handler: impl Future<Output = Result<Response<R>, E>> + Send) {
        match AssertUnwindSafe(handler).catch_unwind().await {
            Ok(Ok(answer)) if Effect::of(&answer) == Effect::None => {
                self.execution.give_up().await.ok();
                self.outcome.send(Ok(Ok(answer.map(IdempotentBody::own)))).ok();
            }
            Ok(Ok(answer)) => self.record(answer).await,
            Ok(Err(error)) => drop(self.outcome.send(Ok(Err(error)))),
            Err(panic) => drop(self.outcome.send(Err(panic))),
        }
    }

    async fn record(self, answer: Response<R>) {
        let Self { execution, rules, outcome } = self;
        let (head, body) = answer.into_parts();
        let (pieces, received) = mpsc::unbounded_channel();
        let (gone, size) = (pieces.clone(), body.size_hint());
        let mut tape = Tape {
            answer: Answer::new(head.status, &head.headers, &rules.replayed),
            execution: Some(execution),
            most: rules.idempotency.max_record(),
            parts: Vec::new(),
            pieces,
        };
        if body.is_end_stream() {
            tape.keep_whole().await;
        }
        let answer = Response::from_parts(head, IdempotentBody::recorded(received, size));
        outcome.send(Ok(Ok(answer))).ok();
        let gone = async {
            gone.closed().await;
            rules.idempotency.clock().sleep(AFTERWARDS).await;
        };
        tokio::select! {
            () = tape.run(Box::pin(body)) => {}
            () = gone => tape.keep(None).await,
        }
    }
}

/// Passes a body on, and keeps what passes.
struct Tape<R: Body> {
    answer: Answer,
    /// Nothing once the answer is kept.
    execution: Option<Execution>,
    most: usize,
    parts: Vec<Bytes>,
    pieces: mpsc::UnboundedSender<Piece<R>>,
}

impl<R: Body<Data = Bytes>> Tape<R> {
    async fn run(&mut self, mut body: Pin<Box<R>>) {
        while let Some(next) = frame(&mut body).await {
            let frame = match next {
                Ok(frame) => frame,
                Err(error) => {
                    // Nobody has the whole answer: it is indeterminate.
                    self.execution = None;
                    return self.pass(Piece::Failed(error));
                }
            };
            let fits = self.hold(&frame);
            if !fits {
                self.keep(None).await;
            } else if body.is_end_stream() {
                self.keep_whole().await;
            }
            self.pass(Piece::Frame(frame));
            if !fits {
                return self.pass(Piece::Rest(body));
            }
        }
        self.keep_whole().await;
        self.pass(Piece::End);
    }

    /// Holds what passes, if there is room for it.
    fn hold(&mut self, frame: &Frame<Bytes>) -> bool {
        let Some(data) = frame.data_ref() else { return true };
        self.most.checked_sub(data.len()).is_some_and(|left| {
            self.most = left;
            self.parts.push(data.clone());
            true
        })
    }

    async fn keep_whole(&mut self) {
        let whole = join(std::mem::take(&mut self.parts));
        self.keep(Some(whole)).await;
    }

    /// Keeps the answer: before its last piece is passed, so that whoever has it all and asks again is told the same.
    async fn keep(&mut self, body: Option<Bytes>) {
        let Some(execution) = self.execution.take() else { return };
        self.answer.body = body;
        // What cannot be stored now is offered again by a task.
        execution.complete(self.answer.write()).await.ok();
    }

    /// Whether anybody receives it is nothing to the record.
    fn pass(&self, piece: Piece<R>) {
        self.pieces.send(piece).ok();
    }
}
