//! The service that carries a request out, answers it again, or refuses it.

use std::{
    future::Future,
    panic::resume_unwind,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, request::Parts};
use http_body::Body;
use tokio::sync::oneshot;
use tower_service::Service;
use tracing::Instrument;

use super::{
    Rules,
    answer::Answer,
    body::IdempotentBody,
    frames::{Unfit, collect},
    key,
    recorder::Recorder,
    refusal::Refusal,
};
use crate::{
    error::Error,
    once::{Begun, Execution, Record},
};

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The service of an [`IdempotencyLayer`](super::IdempotencyLayer).
#[derive(Clone, Debug)]
pub struct Idempotent<S> {
    inner: S,
    rules: Arc<Rules>,
}

impl<S> Idempotent<S> {
    pub(super) fn new(inner: S, rules: Arc<Rules>) -> Self {
        Self { inner, rules }
    }
}

impl<S, B, R> Service<Request<B>> for Idempotent<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    B: Body<Data = Bytes> + From<Bytes> + Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Send,
{
    type Response = Response<IdempotentBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that is ready goes into the future; its clone may not be.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let (head, body) = request.into_parts();
        match self.rules.name(&head) {
            Ok(Some(name)) => Box::pin(guarded(inner, self.rules.clone(), name, head, body)),
            Ok(None) => Box::pin(unguarded(inner, Request::from_parts(head, body))),
            Err(refusal) => Box::pin(async move { Ok(refusal.problem().answer()) }),
        }
    }
}

async fn unguarded<S, B, R>(
    mut inner: S,
    request: Request<B>,
) -> Result<Response<IdempotentBody<R>>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Body,
{
    Ok(inner.call(request).await?.map(IdempotentBody::own))
}

async fn guarded<S, B, R>(
    mut inner: S,
    rules: Arc<Rules>,
    name: String,
    head: Parts,
    body: B,
) -> Result<Response<IdempotentBody<R>>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>> + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    B: Body<Data = Bytes> + From<Bytes> + Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Send,
{
    let body = match collect(body, rules.max_body).await {
        Ok(body) => body,
        Err(Unfit::TooLarge) => return Ok(Refusal::BodyTooLarge(rules.max_body).problem().answer()),
        Err(Unfit::Unreadable) => return Ok(Refusal::BodyUnreadable.problem().answer()),
    };
    let begun = rules.begin(&name, &key::fingerprint(&head, &body)).await;
    let request = Request::from_parts(head, B::from(body));
    let execution = match Turn::of(begun, &rules) {
        Turn::Run(execution) => execution,
        Turn::Pass => return unguarded(inner, request).await,
        Turn::Answer(answer) => return Ok(answer),
    };
    // Between here and the answer of the store nothing is awaited: whoever has begun runs.
    let (outcome, done) = oneshot::channel();
    let recorder = Recorder { execution, rules: rules.clone(), outcome };
    let handler = async move { recorder.run(async move { inner.call(request).await }).await };
    rules.idempotency.spawn(handler.in_current_span());
    match done.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => resume_unwind(panic),
        // Shutdown has ended it.
        Err(_) => Ok(Refusal::Indeterminate.problem().answer()),
    }
}

/// What a request that is guarded comes to.
enum Turn<R: Body> {
    Run(Execution),
    Pass,
    Answer(Response<IdempotentBody<R>>),
}

impl<R: Body> Turn<R> {
    fn of(begun: Result<Begun, Error>, rules: &Rules) -> Self {
        let refusal = match begun {
            Ok(Begun::Run(execution)) => return Self::Run(execution),
            Ok(Begun::Done(record)) => return Self::Answer(replay(&record)),
            Ok(Begun::Running { retry_after }) => Refusal::Running(retry_after),
            Ok(Begun::Mismatch) => Refusal::Mismatch,
            Ok(Begun::Indeterminate) => Refusal::Indeterminate,
            Err(_) if rules.unprotected => return Self::Pass,
            Err(_) => Refusal::Unavailable,
        };
        Self::Answer(refusal.problem().answer())
    }
}

fn replay<R: Body>(record: &Record) -> Response<IdempotentBody<R>> {
    let Some(Answer { status, headers, body: Some(body) }) = Answer::read(record) else {
        return Refusal::AnswerNotKept.problem().answer();
    };
    let mut response = Response::new(IdempotentBody::whole(body));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}
