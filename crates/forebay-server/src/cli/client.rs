//! Requests of verbs to a server that runs.

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url, redirect::Policy};
use serde::Deserialize;

use super::{Failure, words::span};
use crate::error::{Kind, TYPES};

/// How long an answer may take of which nobody expects that it waits for something.
const PATIENCE: Duration = Duration::from_secs(5);

/// What need not be escaped in a segment of a path.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');

const TOKEN: &str = "FOREBAY_TOKEN";

/// Where the server is.
#[derive(Debug, Clone, Args)]
pub(super) struct Reach {
    /// The server to ask. Its token, if it wants one, is read from the variable FOREBAY_TOKEN
    #[arg(
        long,
        env = "FOREBAY_SERVER",
        hide_env_values = true,
        value_name = "URL",
        default_value = "http://127.0.0.1:7340"
    )]
    server: String,
}

/// A server, and who asks it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: Option<String>,
}

/// A request that a server did not carry out.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    /// None where no Forebay server has answered.
    problem: Option<Problem>,
}

/// What a refusal says, as far as it is used.
#[derive(Debug, Deserialize)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: String,
    detail: String,
}

impl Reach {
    /// The server of this program itself.
    pub(super) fn here(address: SocketAddr) -> Self {
        Self { server: format!("http://{address}") }
    }

    /// Prepares requests to the server; none is sent.
    pub(super) fn client(&self) -> Result<Client, Failure> {
        Ok(Client { http: http()?, base: self.base()?, token: token()? })
    }

    fn base(&self) -> Result<Url, Failure> {
        let refuse = |why: &str| {
            let remedy = "give a URL such as http://127.0.0.1:7340";
            Failure::Usage(format!("`{}` (--server, FOREBAY_SERVER) {why}; {remedy}", self.shown()))
        };
        let base: Url = self.server.parse().map_err(|error| refuse(&format!("is no URL: {error}")))?;
        if base.scheme() != "http" || base.host().is_none() {
            return Err(refuse("is no server that is spoken to in plain HTTP, as this program does"));
        }
        let has_user = !base.username().is_empty() || base.password().is_some();
        if has_user || base.query().is_some() || base.fragment().is_some() {
            return Err(refuse("has more than a host, a port and a path"));
        }
        Ok(base)
    }

    /// What was given, without what may be a password.
    fn shown(&self) -> String {
        let Some((before, place)) = self.server.rsplit_once('@') else { return self.server.clone() };
        let scheme = before.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
        format!("{scheme}…@{place}")
    }
}

/// Requests over HTTP, without TLS.
pub(super) fn http() -> Result<reqwest::Client, Failure> {
    let failed =
        |error: reqwest::Error| Failure::Undone(format!("cannot prepare requests: {}", chain(&error)));
    reqwest::Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .connect_timeout(PATIENCE)
        .build()
        .map_err(failed)
}

fn token() -> Result<Option<String>, Failure> {
    match std::env::var(TOKEN) {
        Ok(token) if token.is_empty() => Ok(None),
        Ok(token) if token.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Some(token)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        _ => Err(Failure::Usage(format!("{TOKEN} is no token: it has characters that none can have"))),
    }
}

impl Client {
    /// Where the server is, as people write it.
    pub(super) fn place(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// How long a request may take that waits for `wait_ms` by its own words.
    pub(super) fn patience(&self, wait_ms: u64) -> Duration {
        PATIENCE + Duration::from_millis(wait_ms)
    }

    /// Begins a request of the path that these segments make.
    pub(super) fn request(&self, method: Method, segments: &[&str]) -> Result<RequestBuilder, Failure> {
        if let Some(lost) = segments.iter().find(|segment| ["", ".", ".."].contains(*segment)) {
            let why = "which no URL can carry: use the calls below /v1/batch";
            return Err(Failure::Usage(format!("an id or a name is `{lost}`, {why}")));
        }
        let path: String = segments.iter().map(|segment| format!("/{}", escaped(segment))).collect();
        let request = self.http.request(method, format!("{}{path}", self.place())).timeout(PATIENCE);
        Ok(match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
    }

    /// Sends a request, and returns the answer whatever its status.
    pub(super) async fn ask(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = request.build().map_err(|error| self.unanswered(&error, PATIENCE))?;
        let patience = request.timeout().copied().unwrap_or(PATIENCE);
        self.http.execute(request).await.map_err(|error| self.unanswered(&error, patience))
    }

    /// Sends a request, and returns the answer if it is no refusal.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let response = self.ask(request).await?;
        if response.status().is_success() { Ok(response) } else { Err(refusal(response).await) }
    }

    /// Reads what an answer says.
    pub(super) async fn read<T: for<'de> Deserialize<'de>>(&self, response: Response) -> Result<T, Failure> {
        let bytes = response.bytes().await.map_err(|error| self.cut_off(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let what = "is not what a Forebay server of this version says";
            Failure::Undone(format!("the answer of {} {what}: {error}", self.place()))
        })
    }

    /// Reads an answer that is text.
    pub(super) async fn text(&self, response: Response) -> Result<String, Failure> {
        response.text().await.map_err(|error| self.cut_off(&error))
    }

    fn cut_off(&self, error: &reqwest::Error) -> Failure {
        Failure::Undone(format!("the answer of {} has no end: {}", self.place(), chain(error)))
    }

    fn unanswered(&self, error: &reqwest::Error, patience: Duration) -> Failure {
        let place = self.place();
        Failure::Undone(if error.is_connect() {
            let remedy = "start a server with `forebay`, or say where it is with --server or FOREBAY_SERVER";
            format!("nothing answers at {place} ({}); {remedy}", root(error))
        } else if error.is_timeout() {
            format!("{place} has not answered within {}", span(patience))
        } else {
            format!("no answer from {place}: {}", chain(error))
        })
    }
}

impl Refused {
    /// Reads what an answer that is a refusal says.
    pub(super) async fn read(response: Response) -> Self {
        Self { status: response.status(), problem: response.json().await.ok() }
    }

    /// Whether this is why.
    pub(super) fn is(&self, kind: Kind) -> bool {
        let name = |problem: &Problem| problem.kind.strip_prefix(TYPES) == Some(kind.name());
        self.problem.as_ref().is_some_and(name)
    }

    /// Whether every other request of the kind would be refused as well, so that whoever has many to make need not go on.
    pub(super) fn is_of_all(&self) -> bool {
        let kinds = [Kind::NotFound, Kind::InvalidSpace, Kind::TooManySpaces, Kind::NoTimeToLive];
        match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::METHOD_NOT_ALLOWED => true,
            _ if self.problem.is_some() => kinds.into_iter().any(|kind| self.is(kind)),
            // No Forebay server is there; one behind a proxy may come back.
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => false,
            status => !status.is_server_error(),
        }
    }

    /// What it means for a verb. A request that no server could carry out was typed wrongly.
    pub(super) fn failure(self) -> Failure {
        let said = match self.problem {
            Some(Problem { title, detail, .. }) => format!("{title}: {detail}"),
            None => format!("the answer is {}, and not one of a Forebay server", self.status),
        };
        match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Failure::Undone(format!("{said} (the token is read from {TOKEN})"))
            }
            StatusCode::BAD_REQUEST => Failure::Usage(said),
            _ => Failure::Undone(said),
        }
    }
}

/// What a refusal means for a verb.
pub(super) async fn refusal(response: Response) -> Failure {
    Refused::read(response).await.failure()
}

/// A segment of a path, with whatever stands in it.
pub(super) fn escaped(segment: &str) -> String {
    utf8_percent_encode(segment, &PLAIN).to_string()
}

/// An error with its causes, the last of which says the most.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

/// The cause of all other causes.
fn root(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(cause) = deepest.source() {
        deepest = cause;
    }
    deepest.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(server: &str) -> Result<Client, Failure> {
        Reach { server: server.to_owned() }.client()
    }

    #[test]
    fn what_is_no_server_is_refused_by_its_setting() {
        for server in
            ["", "127.0.0.1:7340", "redis://a", "https://a", "http://a?b", "http://user:secret@a", "http://"]
        {
            let refused = reach(server).unwrap_err();
            assert!(matches!(&refused, Failure::Usage(why) if why.contains("--server")), "{server}");
        }
    }

    #[test]
    fn any_text_is_one_segment() {
        let client = reach("http://127.0.0.1:1/below/").unwrap();
        let request = client.request(Method::GET, &["ops", "a/b ?#%ü"]).unwrap().build().unwrap();
        assert_eq!(request.url().as_str(), "http://127.0.0.1:1/below/ops/a%2Fb%20%3F%23%25%C3%BC");
        for lost in ["", ".", ".."] {
            assert!(matches!(client.request(Method::GET, &["a", lost]), Err(Failure::Usage(_))), "{lost}");
        }
    }
}
