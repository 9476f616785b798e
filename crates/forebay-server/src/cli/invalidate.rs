//! `forebay invalidate`: values that are not to be used any more.

use std::{io, time::Duration};

use clap::Args;
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::{
    Failure, Verdict,
    client::{Client, Reach},
    ids::ids as lines,
    output::{Output, Paint, Report},
    wait_for,
    words::{of, printable},
};
use crate::api::invalidate::{MOST, Swept};

/// How long a search through all of a store may take until the server answers.
const SEARCH: Duration = Duration::from_secs(300);

/// Forgets values, as after a commit to the database: by their ids, by tags, or by a pattern of ids
///
/// Loads that run are overtaken: what they bring is stored nowhere. Exit code 1 where Redis has not confirmed it: others may
/// still use what was. The server goes on trying for ids and tags, for as long as it runs; a search by a pattern that could
/// not look at all of the store is over, and has to be made again.
#[derive(Debug, Args)]
pub(super) struct Invalidate {
    /// The space
    space: String,

    /// Ids; `-` alone has them read from the standard input, a line each
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
    /// Whether it holds for every server.
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
        let ids = given(self.ids.clone())?;
        let invalidated = wait_for(Self { ids, ..self }.send())?;
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

/// The ids that are meant.
fn given(ids: Vec<String>) -> Result<Vec<String>, Failure> {
    if ids != ["-"] {
        return Ok(ids);
    }
    let read: io::Result<Vec<_>> = lines(io::stdin().lock()).collect();
    match read {
        Ok(ids) if ids.is_empty() => Err(Failure::Usage("the standard input has no ids".to_owned())),
        Ok(ids) => Ok(ids),
        Err(error) => Err(Failure::Undone(format!("the standard input: {error}"))),
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
        let what = match &self.what {
            What::Named { ids, tags } => named_in_words(*ids, *tags),
            What::Matching { matching, .. } => printable(matching),
        };
        let end = match &self.what {
            _ if self.everywhere => paint.good("everywhere"),
            What::Matching { swept, .. } => paint.doubtful(left_to_do(swept)),
            What::Named { .. } => paint.doubtful(TRIED),
        };
        let more = match &self.what {
            What::Matching { swept: Swept::Done { invalidated, deferred, .. }, .. } => {
                in_words(*invalidated, *deferred)
            }
            _ => String::new(),
        };
        format!("{space}: {what} invalidated {end}{more}\n")
    }
}

fn named_in_words(ids: usize, tags: usize) -> String {
    let parts = [(ids, "id"), (tags, "tag")];
    let named = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, one)| of(count as u64, one));
    named.collect::<Vec<_>>().join(" and ")
}

/// What is said of what Redis has not confirmed.
const TRIED: &str = "deferred: not confirmed yet; the server goes on trying for as long as it runs";

/// What of a search is not done, and who does it.
fn left_to_do(swept: &Swept) -> &'static str {
    match swept {
        Swept::Running { .. } => {
            "in part so far: the server goes on searching, and its log will tell of the end"
        }
        Swept::Done { complete: true, .. } => TRIED,
        Swept::Done { complete: false, .. } => {
            "in part: not all of the store could be searched, and nobody goes on; do it again"
        }
    }
}

fn in_words(invalidated: usize, deferred: usize) -> String {
    let deferred =
        if deferred > 0 { format!(", {} deferred", of(deferred as u64, "id")) } else { String::new() };
    format!(" ({}{deferred})", of(invalidated as u64, "id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(swept: Swept) -> String {
        let what = What::Matching { matching: "p-*".to_owned(), swept };
        Invalidated { space: "a".to_owned(), what, everywhere: false }.text(Paint::PLAIN)
    }

    #[test]
    fn nobody_is_promised_what_no_server_does() {
        let done = |complete, deferred| text(Swept::Done { invalidated: 3, deferred, complete });
        let incomplete = "a: p-* invalidated in part: not all of the store could be searched, and nobody goes on; do it \
                          again (3 ids, 1 id deferred)\n";
        assert_eq!(done(false, 1), incomplete);
        assert!(done(true, 1).contains("the server goes on trying"), "{}", done(true, 1));
        assert!(text(Swept::Running { running: true }).contains("goes on searching"));
    }
}
