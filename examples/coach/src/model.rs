//! A language model behind any OpenAI-compatible endpoint: slow, paid by the token, and failing now and then.

use std::{net::IpAddr, time::Duration};

use anyhow::{Context, Result};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::runners::Runner;

/// Longer than any model thinks that works.
const PATIENCE: Duration = Duration::from_secs(25);

/// The version of what the model is told of a runner. Who changes that raises it: what was said to the old wording is no
/// answer to the new one.
pub(crate) const PROMPT: u32 = 1;

#[derive(Debug, Clone)]
pub(crate) struct Model {
    http: Client,
    /// In front of `/v1/chat/completions`.
    base: String,
    key: Option<String>,
    name: String,
}

/// What a model says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Completion {
    pub(crate) text: String,
}

/// Why it says nothing.
#[derive(Debug, Error)]
pub(crate) enum ModelError {
    #[error("the model cannot be asked: {0}")]
    Unreachable(#[from] reqwest::Error),
    #[error("the model answered {0}")]
    Refused(StatusCode),
    #[error("the model answered without a choice")]
    Empty,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    /// So that who runs the model can tell whom it serves.
    user: &'a str,
    messages: [Message<'a>; 2],
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Deserialize)]
struct Response {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    content: String,
}

impl Model {
    /// Asks the model `name` at `base`, with a key where it takes one.
    pub(crate) fn new(base: &str, key: Option<String>, name: String) -> Result<Self> {
        let url = Url::parse(base).ok().filter(|url| url.scheme() == "http" && url.has_host());
        let url = url.with_context(|| {
            format!(
                "cannot use {base} as --model-url: it must be like http://127.0.0.1:11434; for HTTPS put a proxy in \
                 front that speaks TLS"
            )
        })?;
        let http = Client::builder().timeout(PATIENCE);
        // The proxy of a shell knows nothing of what listens on this machine.
        let http = if is_here(&url) { http.no_proxy() } else { http };
        let http = http.build()?;
        Ok(Self { http, base: base.trim_end_matches('/').into(), key, name })
    }

    /// Which model it is.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What it says to `question`, told by `prompt` whom it speaks to.
    pub(crate) async fn complete(
        &self,
        user: &str,
        prompt: &str,
        question: &str,
    ) -> Result<Completion, ModelError> {
        let said = self.call(user, prompt, question).await;
        said.inspect_err(|why| tracing::warn!(%why, "a call of the model failed"))
    }

    async fn call(&self, user: &str, prompt: &str, question: &str) -> Result<Completion, ModelError> {
        let messages =
            [Message { role: "system", content: prompt }, Message { role: "user", content: question }];
        let request = Request { model: &self.name, user, messages };
        let post = self.http.post(format!("{}/v1/chat/completions", self.base)).json(&request);
        let post = self.key.iter().fold(post, RequestBuilder::bearer_auth);
        let answer = post.send().await?;
        if !answer.status().is_success() {
            return Err(ModelError::Refused(answer.status()));
        }
        let Response { choices } = answer.json().await?;
        let choice = choices.into_iter().next().ok_or(ModelError::Empty)?;
        Ok(Completion { text: choice.message.content })
    }
}

/// Whether it leads to this machine.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

impl Runner {
    /// What the model is told of a runner.
    pub(crate) fn prompt(&self) -> String {
        let profile = self.athlete.profile;
        let runs = self.athlete.runs.iter();
        let runs: Vec<_> =
            runs.map(|run| format!("{}: {} km in {} min", run.day, run.km, run.minutes)).collect();
        format!(
            "You coach a runner with a VO2max of {} and a threshold pace of {} s/km. Last runs: {}.",
            profile.vo2max,
            profile.lt_pace,
            runs.join(", ")
        )
    }
}
