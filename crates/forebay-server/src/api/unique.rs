//! `/v1/unique/{counter}`: how many different visitors came, by the day.

use std::str::FromStr;

use axum::{
    body::Body,
    http::{StatusCode, Uri},
    response::Response,
};
use forebay::{
    Error, ErrorKind,
    unique::{Count, Date},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{answer, given::required};
use crate::{
    counters::MOST_AT_ONCE,
    error::{Kind, Problem},
    extract::{self, AskedCounter, Query, ReadCounter},
};

/// The longest id, in bytes.
const LONGEST: usize = 1024;

/// The body of `POST /v1/unique/{counter}`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "ids": ["ada", "grace"] }))]
struct Seen {
    #[schema(value_type = Vec<String>, min_items = 1, max_items = 10000)]
    ids: Option<Vec<String>>,
}

/// Records that some came now.
#[utoipa::path(
    post, path = "/v1/unique/{counter}", tag = "visitors",
    request_body(content = Seen),
    responses(
        (status = 204, description = "They are counted"),
    ),
    extensions(("x-problems" = json!([Kind::RedisUnavailable]))),
)]
pub(crate) async fn record(
    AskedCounter(counter): AskedCounter,
    uri: Uri,
    body: Body,
) -> Result<StatusCode, Problem> {
    Query::read(&uri, &[])?;
    let Seen { ids } = extract::many(body).await?;
    let ids = required(ids, "ids")?;
    check(&ids)?;
    counter.record(&ids).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn check(ids: &[String]) -> Result<(), Problem> {
    let refuse = |why: String| Err(Problem::new(Kind::InvalidBody, format!("in the body, `ids{why}")));
    if !(1..=MOST_AT_ONCE).contains(&ids.len()) {
        return refuse(format!("` has {}; give 1 to {MOST_AT_ONCE}", ids.len()));
    }
    match ids.iter().position(|id| !(1..=LONGEST).contains(&id.len())) {
        Some(place) => refuse(format!("[{place}]` has {} bytes; give 1 to {LONGEST}", ids[place].len())),
        None => Ok(()),
    }
}

/// How many came on some days.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Count)]
struct Counted {
    count: u64,
    from: String,
    to: String,
    standard_error: f64,
}

/// Which days to count.
#[derive(Debug, Clone, Copy)]
enum Asked {
    On(Date),
    Last(u32),
}

impl Asked {
    fn read(uri: &Uri, keep_days: u32) -> Result<Self, Problem> {
        let query = Query::read(uri, &["days", "date"])?;
        match (query.text("date"), query.number("days", 1..=keep_days)?) {
            (Some(_), Some(_)) => {
                let detail = "the query parameters `days` and `date` do not go together; give one of them";
                Err(Problem::new(Kind::InvalidQuery, detail))
            }
            (Some(text), None) => date(text).map(Self::On),
            (None, days) => Ok(Self::Last(days.unwrap_or(1))),
        }
    }
}

/// A date as it is answered, and in no other spelling.
fn date(text: &str) -> Result<Date, Problem> {
    let date = Date::from_str(text).ok().filter(|date| date.to_string() == text);
    date.ok_or_else(|| unusable("must be a date, such as 2026-05-13"))
}

fn unusable(why: &str) -> Problem {
    Problem::new(Kind::InvalidQuery, format!("the query parameter `date` {why}"))
}

/// Answers how many came.
#[utoipa::path(
    get, path = "/v1/unique/{counter}", tag = "visitors",
    params(
        ("days" = Option<u32>, Query, nullable = false, description = "The last days, of which today is one; at most those that are kept", minimum = 1, example = 7),
        ("date" = Option<String>, Query, nullable = false, description = "One day, instead", format = Date),
    ),
    responses(
        (status = 200, description = "How many different ones came", body = Counted),
    ),
    extensions(("x-problems" = json!([Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn count(ReadCounter(counter): ReadCounter, uri: Uri) -> Result<Response, Problem> {
    let counted = match Asked::read(&uri, counter.keep_days())? {
        Asked::On(date) => counter.count(date).await,
        Asked::Last(days) => counter.count_days(days).await,
    };
    let Count { visitors, from, to, .. } = counted.map_err(|error| refused(&error))?;
    Ok(answer::json(&Counted {
        count: visitors,
        from: from.to_string(),
        to: to.to_string(),
        standard_error: Count::STANDARD_ERROR,
    }))
}

fn refused(error: &Error) -> Problem {
    match error.kind() {
        ErrorKind::Config => unusable(&format!("cannot be counted: {error}")),
        _ => Problem::of(error),
    }
}
