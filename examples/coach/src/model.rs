//! A language model behind any OpenAI-compatible endpoint: slow, paid by the token, and failing now and then.

use std::{error::Error, net::IpAddr, time::Duration};

use anyhow::{Context, Result};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::runners::Runner;

/// Longer than any model thinks that works.
const PATIENCE: Duration = Duration::from_secs(25);

/// The longest answer that is read, in bytes: a hundred times what a coach says.
const LONGEST: usize = 1 << 20;

/// The version of what the model is told of a runner. Who changes that raises it: what was said to the old wording is no
/// answer to the new one.
pub(crate) const PROMPT: u32 = 1;

#[derive(Debug, Clone)]
pub(crate) struct Model {
    http: Client,
    endpoint: Url,
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
    #[error("the model cannot be asked")]
    Unreachable(#[from] reqwest::Error),
    #[error("the model answered {0}")]
    Refused(StatusCode),
    #[error("the model answered more than {LONGEST} bytes")]
    TooLong,
    #[error("the model answered something else than a completion")]
    Unreadable(#[from] serde_json::Error),
    #[error("the model said nothing")]
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
    content: Option<String>,
}

impl Model {
    /// Asks the model `name` at `base`, with a key where it takes one. Whether the base ends in `/v1`, as some write it, or in
    /// the whole path, is all the same.
    pub(crate) fn new(base: &str, key: Option<String>, name: String) -> Result<Self> {
        let endpoint = endpoint(base).with_context(|| {
            format!(
                "cannot use {base} as --model-url: it must be like http://127.0.0.1:11434; for HTTPS put a proxy in \
                 front that speaks TLS"
            )
        })?;
        let http = Client::builder().timeout(PATIENCE);
        // The proxy of a shell knows nothing of what listens on this machine.
        let http = if is_here(&endpoint) { http.no_proxy() } else { http };
        Ok(Self { http: http.build()?, endpoint, key, name })
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
        said.inspect_err(|why| tracing::warn!(error = why as &dyn Error, "a call of the model failed"))
    }

    async fn call(&self, user: &str, prompt: &str, question: &str) -> Result<Completion, ModelError> {
        let messages =
            [Message { role: "system", content: prompt }, Message { role: "user", content: question }];
        let request = Request { model: &self.name, user, messages };
        let post = self.http.post(self.endpoint.clone()).json(&request);
        let post = self.key.iter().fold(post, RequestBuilder::bearer_auth);
        let answer = post.send().await?;
        if !answer.status().is_success() {
            return Err(ModelError::Refused(answer.status()));
        }
        let Response { choices } = serde_json::from_slice(&body(answer).await?)?;
        let said = choices.into_iter().next().and_then(|choice| choice.message.content);
        // What is blank is no answer, and would be one for as long as answers are fresh.
        let text = said.filter(|text| !text.trim().is_empty()).ok_or(ModelError::Empty)?;
        Ok(Completion { text })
    }
}

/// Where a model is asked whose address somebody has given.
fn endpoint(base: &str) -> Option<Url> {
    let base = base.trim_end_matches('/');
    let base = base.strip_suffix("/chat/completions").unwrap_or(base);
    let base = base.strip_suffix("/v1").unwrap_or(base);
    let url = Url::parse(&format!("{base}/v1/chat/completions")).ok()?;
    let is_plain =
        url.scheme() == "http" && url.has_host() && url.query().is_none() && url.fragment().is_none();
    is_plain.then_some(url)
}

async fn body(mut answer: reqwest::Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await? {
        body.extend_from_slice(&part);
        if body.len() > LONGEST {
            return Err(ModelError::TooLong);
        }
    }
    Ok(body)
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
