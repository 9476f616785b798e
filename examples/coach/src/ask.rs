//! `POST /ask`: what the model says, asked once for each question of each runner as they are now.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use axum::{
    Json, Router,
    extract::State,
    response::{AppendHeaders, IntoResponse},
    routing::post,
};
use forebay::{
    Error, Fingerprint, Forebay,
    cache::{Cache, Invalidated, LoadError, Loaded, OriginBreaker},
};
use serde::{Deserialize, Serialize};

use crate::{
    body::{Body, Example, Text},
    model::{Completion, Model, ModelError, PROMPT},
    problem::Problem,
    runners::Runner,
    service::Coach,
    source::Source,
};

/// For how long an answer is better than none.
const STALE_FOR: Duration = Duration::from_secs(24 * 3600);

/// For how long an old answer waits for a model that is slow: longer than one that works takes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A model that fails is left alone for a while.
const BREAKER: OriginBreaker =
    OriginBreaker { failures: 5, window: Duration::from_secs(10), pause: Duration::from_secs(2) };

pub(crate) fn router() -> Router<Coach> {
    Router::new().route("/ask", post(ask))
}

#[derive(Deserialize)]
struct Question {
    question: Text,
}

impl Example for Question {
    const EXAMPLE: &str = r#"{"question": "How fast should my long run be?"}"#;
}

#[derive(Serialize)]
struct Answered {
    answer: String,
    source: Source,
    /// The model fails, or takes too long, and this is what it said before.
    degraded: bool,
}

async fn ask(
    State(coach): State<Coach>,
    runner: Runner,
    Body(Question { question }): Body<Question>,
) -> Result<impl IntoResponse, Problem> {
    let question = String::from(question).split_whitespace().collect::<Vec<_>>().join(" ");
    let (answer, source) = coach.answers.answer(&runner, &question).await?;
    let answered = Answered { answer: answer.text.clone(), source, degraded: source == Source::Stale };
    Ok((AppendHeaders([("cache-status", source.header())]), Json(answered)))
}

/// What the model has said.
#[derive(Debug, Clone)]
pub(crate) struct Answers {
    /// Without one the model is asked each time.
    cache: Option<Cache<Completion>>,
    model: Model,
}

impl Answers {
    /// Answers that are fresh for so long.
    pub(crate) fn cached(forebay: &Forebay, model: Model, fresh_for: Duration) -> Result<Self> {
        let cache = forebay.cache("answer", fresh_for).version(PROMPT);
        let cache = cache.stale_for(STALE_FOR).patience(PATIENCE).origin_breaker(BREAKER).build()?;
        Ok(Self { cache: Some(cache), model })
    }

    /// Straight from the model, to see what that costs.
    pub(crate) fn straight(model: Model) -> Self {
        Self { cache: None, model }
    }

    async fn answer(&self, runner: &Runner, question: &str) -> Result<(Arc<Completion>, Source), Problem> {
        let prompt = runner.prompt();
        let Some(cache) = &self.cache else {
            let answer = self.model.complete(&runner.id, &prompt, question).await?;
            return Ok((Arc::new(answer), Source::Model));
        };
        let (model, user, asked) = (self.model.clone(), runner.id.clone(), question.to_owned());
        let load = async move |_| {
            let answer = model.complete(&user, &prompt, &asked).await?;
            Ok::<_, ModelError>(Loaded::new(answer).tag(tag(&user)))
        };
        let entry = cache.entry_or_load(id(&self.model, runner, question)?, load).await?;
        let source = Source::of(&entry);
        Ok((entry.value, source))
    }

    /// Forgets what was said to a runner.
    pub(crate) async fn invalidate(&self, user: &str) -> Invalidated {
        match &self.cache {
            Some(cache) => cache.invalidate_tag(tag(user)).await,
            None => Invalidated::Everywhere,
        }
    }
}

/// Everything that an answer depends on, but the wording of the prompt, which is the version. With another profile, or
/// another run, it is another answer, so that one that is stale is never about somebody whom the runner no longer is.
fn id(model: &Model, runner: &Runner, question: &str) -> Result<String, Error> {
    let fingerprint = Fingerprint::new()
        .with("model", model.name())?
        .with("user", &runner.id)?
        .with("question", question)?
        .with("runs", &runner.athlete.runs)?
        .with("profile", &runner.athlete.profile)?;
    Ok(fingerprint.finish())
}

fn tag(user: &str) -> String {
    format!("user:{user}")
}

impl From<LoadError<ModelError>> for Problem {
    fn from(why: LoadError<ModelError>) -> Self {
        match why {
            LoadError::Failed(why) => Self::no_model(&*why),
            why => Self::no_model(&why),
        }
    }
}

impl From<ModelError> for Problem {
    fn from(why: ModelError) -> Self {
        Self::no_model(&why)
    }
}
