//! `forebay invalidate`: values that are not to be used any more.

use std::time::Duration;

use clap::Args;
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::{
    Failure, Verdict,
    client::{Client, Reach},
    output::{Output, Paint, Report},
    wait_for,
    words::{of, printable},
};
use crate::api::invalidate::{MOST, Swept};

/// How long a search through all of a store may take until the server answers.
const SEARCH: Duration = Duration::from_secs(300);

/// Forgets values, as after a commit to the database: by their ids, by tags, or by a pattern of ids
///
/// Loads that run are overtaken: what they bring is stored nowhere. Exit code 1 where Redis has not confirmed it: the server
/// goes on trying until it has, and others may still use what was.
#[derive(Debug, Args)]
pub(super) struct Invalidate {
    /// The space
    space: String,

    /// Ids
    #[arg(required_unless_present_any = ["tags", "matching"])]
    ids: Vec<String>,

    /// A tag: all values that were stored with it. May be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// A pattern of ids, such as `user:*:avatar`. The whole store is searched for them, so the token needs the scope `ops`
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["ids", "tags"])]
    matching: Option<String>,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    output: Output,
}

/// What an invalidation has done.
#[derive(Debug, Serialize)]
struct Invalidated {
    space: String,
    #[serde(flatten)]
    what: What,
    /// Whether it holds for every server; otherwise it is tried until it does.
    everywhere: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum What {
    Named { ids: usize, tags: usize },
    Matching { matching: String, swept: Swept },
}

impl Invalidate {
    pub(super) fn run(self) -> Result<Verdict, Failure> {
        let output = self.output;
        let invalidated = wait_for(self.send())?;
        output.tell(&invalidated)?;
        Ok(if invalidated.everywhere { Verdict::Well } else { Verdict::Unwell })
    }

    async fn send(self) -> Result<Invalidated, Failure> {
        let client = self.reach.client()?;
        let (what, everywhere) = match self.matching {
            Some(pattern) => matching(&client, &self.space, pattern).await?,
            None => named(&client, &self.space, &self.ids, &self.tags).await?,
        };
        Ok(Invalidated { space: self.space, what, everywhere })
    }
}

async fn named(
    client: &Client,
    space: &str,
    ids: &[String],
    tags: &[String],
) -> Result<(What, bool), Failure> {
    let bodies = ids.chunks(MOST).map(|ids| json!({ "ids": ids }));
    let bodies = bodies.chain(tags.chunks(MOST).map(|tags| json!({ "tags": tags })));
    let mut everywhere = true;
    for body in bodies {
        let request = client.request(Method::POST, &["v1", "invalidate", space])?.json(&body);
        everywhere &= client.send(request).await?.status() == StatusCode::NO_CONTENT;
    }
    Ok((What::Named { ids: ids.len(), tags: tags.len() }, everywhere))
}

async fn matching(client: &Client, space: &str, pattern: String) -> Result<(What, bool), Failure> {
    let request = client.request(Method::POST, &["v1", "invalidate", space])?;
    let request = request.query(&[("matching", &pattern)]).timeout(SEARCH);
    let response = client.send(request).await?;
    let everywhere = response.status() == StatusCode::OK;
    Ok((What::Matching { matching: pattern, swept: client.read(response).await? }, everywhere))
}

impl Report for Invalidated {
    fn text(&self, paint: Paint) -> String {
        let space = printable(&self.space);
        let (what, more) = match &self.what {
            What::Named { ids, tags } => (named_in_words(*ids, *tags), String::new()),
            What::Matching { matching, swept } => (printable(matching), swept_in_words(swept)),
        };
        let end = match self.everywhere {
            true => paint.good("everywhere"),
            false => paint.doubtful("deferred: not confirmed yet, and tried until it is"),
        };
        format!("{space}: {what} invalidated {end}{more}\n")
    }
}

fn named_in_words(ids: usize, tags: usize) -> String {
    let parts = [(ids, "id"), (tags, "tag")];
    let named = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, one)| of(count as u64, one));
    named.collect::<Vec<_>>().join(" and ")
}

fn swept_in_words(swept: &Swept) -> String {
    match swept {
        Swept::Running { .. } => {
            "; the server goes on searching, and its log will tell of the end".to_owned()
        }
        Swept::Done { invalidated, deferred, complete } => {
            let incomplete = if *complete { "" } else { "; not all of the store could be searched" };
            let deferred = if *deferred > 0 {
                format!(", {} deferred", of(*deferred as u64, "id"))
            } else {
                String::new()
            };
            format!(" ({}{deferred}){incomplete}", of(*invalidated as u64, "id"))
        }
    }
}
