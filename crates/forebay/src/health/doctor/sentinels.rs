//! What sentinels say of the primary: each may know something else.

use super::exam::Exam;
use crate::redis::UNKNOWN;

const NAMELESS: &str = "it does not know the name";

impl Exam<'_> {
    pub(super) fn is_under_sentinels(&self) -> bool {
        !self.sentinels.is_empty()
    }

    /// Why none of the sentinels says where the primary is, and what to do; nothing if one does.
    pub(super) fn no_sentinel(&self) -> Option<(String, &'static str)> {
        if !self.is_under_sentinels() || self.sentinels.iter().any(|(_, said)| said.is_ok()) {
            return None;
        }
        let each: Vec<_> =
            self.sentinels.iter().filter_map(|(at, said)| Some((at, said.as_ref().err()?))).collect();
        let value = each.iter().map(|(at, why)| format!("{at}: {why}")).collect::<Vec<_>>().join("; ");
        let has = |word: &str| each.iter().any(|(_, why)| why.contains(word));
        let remedy = match () {
            () if has(NAMELESS) => {
                "end the URL in the name that stands behind `sentinel monitor` in the file of the sentinels"
            }
            () if has("NOAUTH") || has("WRONGPASS") => {
                "put the password of the sentinels into the URL, as ?sentinel_password=…, and their user as \
                 &sentinel_user=…"
            }
            () if has(UNKNOWN) => "take the addresses of sentinels, not of servers, or write redis://",
            () => "start the sentinels, or correct their addresses in the URL",
        };
        Some((format!("no sentinel says where the primary is: {value}"), remedy))
    }

    /// Where sentinels say that the primary is: one place, or each with its own.
    pub(super) fn named_by_sentinels(&self) -> String {
        let mut places: Vec<_> = self.sentinels.iter().filter_map(|(_, said)| said.as_ref().ok()).collect();
        places.sort();
        places.dedup();
        match &*places {
            [place] => format!("the primary that the sentinels name, {place}"),
            _ => {
                let each = self.sentinels.iter().filter_map(|(at, said)| {
                    let place = said.as_ref().ok()?;
                    Some(format!("{at} names {place}"))
                });
                format!(
                    "the primary of the latest failover, as of the sentinels {}",
                    each.collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    /// What is wrong with some of the sentinels, though one has led to the primary.
    pub(super) fn sentinels_apart(&self) -> Option<(String, &'static str)> {
        let silent =
            self.sentinels.iter().filter_map(|(at, said)| Some(format!("{at}: {}", said.as_ref().err()?)));
        let silent: Vec<_> = silent.collect();
        if !silent.is_empty() {
            let remedy = "start them, or correct their addresses in the URL: with too few of them nobody takes the place of \
                          a primary that is lost";
            return Some((format!("of the sentinels, {}", silent.join("; ")), remedy));
        }
        let mut places: Vec<_> = self.sentinels.iter().filter_map(|(_, said)| said.as_ref().ok()).collect();
        places.sort();
        places.dedup();
        (places.len() > 1).then(|| {
            let remedy = "the one of an older failover is cut off from the others, or another group: SENTINEL MASTER and \
                          the name says which, SENTINEL RESET there has it look anew";
            (format!("the sentinels disagree: {}", self.named_by_sentinels()), remedy)
        })
    }
}
