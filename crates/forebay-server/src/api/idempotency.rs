//! `/v1/idempotency/{key}`: work that runs once, whatever is retried.

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use forebay::{
    Error, ErrorKind,
    once::{Begun, Completed, Idempotency, OnIndeterminate, Record},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    answer::{self, millis},
    given::{GivenToken, done, life, not_the_holder, occupied, refused, required_text},
    written::content,
};
use crate::{
    app::{App, Shared},
    error::{Kind, Problem},
    extract::{self, HeldToken, Named, Query},
    record,
};

/// For how long others are kept out by work that is not heard of, if its client does not say.
const LEASE: Duration = Duration::from_secs(30);

/// How long it is known what became of a key, if its client does not say.
const KEEP: Duration = Duration::from_hours(24);

/// The shortest lease, as the library bounds it: it must outlast a pause of whoever renews it.
const SHORTEST: Duration = Duration::from_millis(100);

/// The most that the library keeps anything: a lease is bounded by its key's own life.
const LONGEST: Duration = Duration::from_hours(24 * 3650);

/// The body of `POST /v1/idempotency/{key}`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WorkAsked, example = json!({ "fingerprint": "1200 cents" }))]
struct Asked {
    #[schema(value_type = String, min_length = 1)]
    fingerprint: Option<String>,
    #[schema(value_type = Option<String>, pattern = "^[0-9a-f]{32}$")]
    owner: Option<GivenToken>,
    #[schema(minimum = 100, maximum = 315360000000_u64)]
    lease_ms: Option<u64>,
    #[schema(minimum = 100, maximum = 315360000000_u64)]
    keep_ms: Option<u64>,
    #[serde(default)]
    on_indeterminate: PolicyName,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OnIndeterminate)]
enum PolicyName {
    #[default]
    Refuse,
    Rerun,
}

/// The body of `PATCH /v1/idempotency/{key}`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WorkRenewal, example = json!({ "lease_ms": 30000 }))]
struct AskedAgain {
    #[schema(minimum = 100, maximum = 315360000000_u64, default = 30000)]
    lease_ms: Option<u64>,
}

/// The right to run it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Work)]
struct Granted {
    owner: String,
    lease_ms: u64,
}

/// How long the lease lasts from now on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkRenewed)]
struct Renewed {
    lease_ms: u64,
}

impl Asked {
    fn keep(&self) -> Result<Duration, Problem> {
        self.keep_ms.map_or(Ok(KEEP), |keep_ms| life(keep_ms, "keep_ms", [SHORTEST, LONGEST], ""))
    }

    fn lease(&self) -> Result<Duration, Problem> {
        let most = self.keep()?;
        let given = |lease_ms| life(lease_ms, "lease_ms", [SHORTEST, most], ", the key's `keep_ms`");
        self.lease_ms.map_or(Ok(LEASE.min(most)), given)
    }

    fn idempotency(&self, app: &App) -> Result<Idempotency, Problem> {
        let builder = app.forebay.idempotency().lease(self.lease()?).keep(self.keep()?);
        let built = builder.on_indeterminate(self.on_indeterminate.into()).build();
        built.map_err(|error| refused(&error))
    }
}

/// Lets the client run what comes under the key, or says how it stands.
#[utoipa::path(
    post, path = "/v1/idempotency/{key}", tag = "idempotency",
    request_body(content = Asked),
    responses(
        (
            status = 200, description = "What it has brought, in its media type", content(("*/*")),
            headers(("Idempotent-Replayed"), ("X-Content-Type-Options"))
        ),
        (status = 201, description = "Run it", body = Granted),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::Running, Kind::Indeterminate, Kind::RecordOmitted, Kind::OtherFingerprint, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn begin(
    State(app): State<Shared>,
    Named(key): Named,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    extract::without_token(&headers)?;
    let asked: Asked = extract::json(body).await?;
    let fingerprint = required_text(asked.fingerprint.as_deref(), "fingerprint")?;
    let idempotency = asked.idempotency(&app)?;
    let begun = match asked.owner {
        Some(GivenToken(owner)) => idempotency.begin_as(&key, fingerprint, owner).await?,
        None => idempotency.begin(&key, fingerprint).await?,
    };
    match begun {
        Begun::Run(execution) => {
            let owner = execution.into_token().to_string();
            let granted = Granted { owner, lease_ms: millis(asked.lease()?) };
            Ok((StatusCode::CREATED, answer::json(&granted)).into_response())
        }
        Begun::Done(record) => record::replay(&record),
        Begun::Running { retry_after } => {
            Err(occupied(Kind::Running, "somebody runs it; ask again for what it brings", retry_after))
        }
        Begun::Mismatch => {
            let detail = "the key was used before, for something else; a new request needs a new key";
            Err(Problem::new(Kind::OtherFingerprint, detail))
        }
        Begun::Indeterminate => Err(indeterminate()),
    }
}

fn indeterminate() -> Problem {
    let detail = "it was begun, and nobody has said that it was done; once you know that it may be run again, ask with \
                  `\"on_indeterminate\":\"rerun\"`";
    Problem::new(Kind::Indeterminate, detail)
}

/// Keeps what the work has brought, for everybody who asks again.
#[utoipa::path(
    put, path = "/v1/idempotency/{key}", tag = "idempotency",
    params(
        ("Forebay-Token" = String, Header, description = "The token that the POST has handed out", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
    ),
    request_body(
        description = "The bytes as they are to be kept, of any media type; that is kept too",
        content((Vec<u8> = "application/octet-stream"), (String = "text/plain"))
    ),
    responses(
        (status = 204, description = "It is kept"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::OtherRecord, Kind::NotTheHolder, Kind::UnsupportedContentEncoding, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn complete(
    State(app): State<Shared>,
    Named(key): Named,
    HeldToken(owner): HeldToken,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    let record = match content(body, &headers, record::LARGEST).await {
        Ok(content) => record::of(&content),
        // It was done all the same, and must not be run again.
        Err(problem) if problem.kind() == Kind::TooLarge => Record::omitted(),
        Err(problem) => return Err(problem),
    };
    match resumed(&app)?.complete(&key, owner, record).await.map_err(|error| unconfirmed(&error))? {
        Completed::Stored => Ok(StatusCode::NO_CONTENT),
        Completed::WithoutRecord => Err(Problem::new(
            Kind::TooLarge,
            format!("at most {} bytes are kept; of this it is kept that it was done", record::LARGEST),
        )),
        Completed::Conflict => {
            let detail = "it was completed under this token before, with another record; that one stays, and a POST \
                          answers it";
            Err(Problem::new(Kind::OtherRecord, detail))
        }
        Completed::Lost => Err(not_the_holder("nothing is kept")),
    }
}

fn unconfirmed(error: &Error) -> Problem {
    match error.kind() {
        ErrorKind::Unavailable => {
            let detail = "Redis has not confirmed the record; it is offered again for ten minutes, and sending it again \
                          does no harm";
            Problem::new(Kind::RedisUnavailable, detail)
        }
        _ => Problem::of(error),
    }
}

/// Keeps others out for longer.
#[utoipa::path(
    patch, path = "/v1/idempotency/{key}", tag = "idempotency",
    params(
        ("Forebay-Token" = String, Header, description = "The token that the POST has handed out", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
    ),
    request_body(content = AskedAgain),
    responses(
        (status = 200, description = "It lasts for so long from now on", body = Renewed),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::NotTheHolder, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn renew(
    State(app): State<Shared>,
    Named(key): Named,
    HeldToken(owner): HeldToken,
    uri: Uri,
    body: Body,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let asked: AskedAgain = extract::json(body).await?;
    let lease = |lease_ms| life(lease_ms, "lease_ms", [SHORTEST, LONGEST], "");
    let lease = asked.lease_ms.map_or(Ok(LEASE), lease)?;
    match resumed(&app)?.renew(&key, owner, lease).await.map_err(|error| refused(&error))? {
        Some(lease) => Ok(answer::json(&Renewed { lease_ms: millis(lease) })),
        None => Err(not_the_holder("nothing is changed")),
    }
}

/// Says that nothing was done: whoever asks next runs it.
#[utoipa::path(
    delete, path = "/v1/idempotency/{key}", tag = "idempotency",
    params(
        ("Forebay-Token" = String, Header, description = "The token that the POST has handed out", pattern = "^[0-9a-f]{32}$", example = "0123456789abcdef0123456789abcdef"),
    ),
    responses(
        (status = 204, description = "Whoever asks next runs it"),
    ),
    extensions(("x-problems" = json!([Kind::InvalidHeader, Kind::NotTheHolder, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn give_up(
    State(app): State<Shared>,
    Named(key): Named,
    HeldToken(owner): HeldToken,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    extract::unconditional(&headers)?;
    done(resumed(&app)?.give_up(&key, owner).await?)
}

/// For a token that was handed out before, under whatever options.
fn resumed(app: &App) -> Result<Idempotency, Problem> {
    Ok(app.forebay.idempotency().keep(LONGEST).max_record(record::LARGEST_WRITTEN).build()?)
}

impl From<PolicyName> for OnIndeterminate {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Refuse => Self::Refuse,
            PolicyName::Rerun => Self::Rerun,
        }
    }
}
