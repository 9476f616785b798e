//! Whether what answers is the Redis that is meant.

use futures::future::join_all;

use super::{
    Verdict,
    exam::{Exam, Seen},
};
use crate::redis::{ANSWERS, Primary, Reply, Unusable, words};

/// Databases and pages of their keys that are looked at.
const DATABASES: usize = 16;
const PAGES: usize = 5;

/// Keys of the application in a database.
#[derive(Default)]
struct Count {
    seen: usize,
    /// Whether these are all.
    is_whole: bool,
}

impl Exam<'_> {
    pub(super) async fn database(&mut self) -> Seen {
        if let Err(reason) = &self.probe {
            let remedy = "end the URL in the number of a database that there is, or leave it out for 0; `databases` of \
                          the server says how many there are";
            return (reason.clone(), Verdict::fault(remedy));
        }
        if self.redis.is_cluster() {
            return ("0, as a cluster has no other".to_owned(), Verdict::Well);
        }
        let Some(own) = self.own_database().await else { return ("not told".to_owned(), Verdict::Well) };
        let elsewhere = self.elsewhere(own).await;
        let Some((other, there)) = elsewhere else { return (own.to_string(), Verdict::Well) };
        let here = self.count_in(own).await.unwrap_or_default();
        let remedy = format!(
            "if those are meant, end the URL in /{other}; if two are meant, give this one another `app`: messages know \
             no databases"
        );
        match here {
            Count { seen: 0, is_whole: true } => {
                let more = if there.is_whole { "" } else { "at least " };
                let value =
                    format!("{own} has no keys of this application, {other} has {more}{}", there.seen);
                (value, Verdict::fault(remedy))
            }
            _ => (format!("{own}, but {other} has keys of this application, too"), Verdict::warning(remedy)),
        }
    }

    /// The number of the database in use, if the server tells.
    async fn own_database(&mut self) -> Option<u32> {
        let told = self.ask(&["CLIENT", "INFO"]).await?;
        let fields = told.text()?.split_whitespace();
        fields.filter_map(|field| field.strip_prefix("db=")).next()?.parse().ok()
    }

    /// Another database that has keys of the application, and how many were seen.
    async fn elsewhere(&mut self, own: u32) -> Option<(u32, Count)> {
        let databases = self.figures().flat_map(|figures| &figures.databases).map(|database| database.number);
        let others: Vec<u32> = databases.filter(|number| *number != own).take(DATABASES).collect();
        let mut found = None;
        for number in others {
            let count = self.count_in(number).await.unwrap_or_default();
            if count.seen > 0 {
                found = Some((number, count));
                break;
            }
        }
        self.ask(&["SELECT", &own.to_string()]).await;
        found
    }

    /// How many keys of the application are among some of a database; nothing where that is not told.
    async fn count_in(&mut self, database: u32) -> Option<Count> {
        self.ask(&["SELECT", &database.to_string()]).await.filter(|answer| answer.text() == Some("OK"))?;
        let (keys, pattern) = (self.keys(), self.keys().all());
        let (mut cursor, mut seen) = ("0".to_owned(), 0);
        for _ in 0..PAGES {
            let page = self.ask(&["SCAN", &cursor, "MATCH", &pattern, "COUNT", "1000"]).await?.into_list();
            let [next, found]: [Reply; 2] = page.try_into().ok()?;
            next.text()?.clone_into(&mut cursor);
            let found = found.into_list();
            seen += found.iter().filter_map(Reply::text).filter(|key| keys.kind(key).is_some()).count();
            if cursor == "0" {
                return Some(Count { seen, is_whole: true });
            }
        }
        Some(Count { seen, is_whole: false })
    }

    pub(super) fn is_replica(&self) -> bool {
        !self.redis.is_cluster() && self.figures().any(|figures| figures.replication.is_replica == Some(true))
    }

    pub(super) fn primary(&self) -> Seen {
        if self.is_replica() && self.is_under_sentinels() {
            let remedy = "wait for the failover that is under way, or look what the sentinels take for the primary: \
                          SENTINEL MASTER and its name, then SENTINEL RESET";
            let value = format!("{} is a replica, which takes no writes", self.named_by_sentinels());
            return (value, Verdict::fault(remedy));
        }
        if self.is_replica() {
            let remedy = "put the address of the primary into the URL, or redis+sentinel:// with those of sentinels, \
                          which know it (INFO replication says where it is)";
            return ("it is a replica, which takes no writes".to_owned(), Verdict::fault(remedy));
        }
        if let Some((value, remedy)) = self.sentinels_apart() {
            return (format!("it takes writes, but {value}"), Verdict::warning(remedy));
        }
        match self.redis.nodes().len() {
            0 => (String::new(), Verdict::skipped("no node of the cluster is known")),
            1 => ("it takes writes".to_owned(), Verdict::Well),
            nodes => (format!("{nodes} primaries"), Verdict::Well),
        }
    }

    /// Whether the server says that it is a node of a cluster.
    pub(super) fn is_of_cluster(&self) -> bool {
        self.figures().any(|figures| figures.mode.as_deref() == Some("cluster"))
    }

    /// The nodes that serve nobody, as they take the cluster for broken.
    async fn who_takes_it_for_broken(&self) -> Vec<String> {
        let (nodes, question) = (self.redis.nodes(), [words(&["CLUSTER", "INFO"])]);
        let asked = nodes.iter().map(|node| self.redis.clock().timeout(ANSWERS, node.look(&question)));
        let told = join_all(asked).await;
        let told = nodes.iter().zip(told.into_iter().map(|told| told.unwrap_or(Err(Unusable::Unanswered))));
        told.filter(|(node, told)| is_broken(node, told)).map(|(node, _)| node.name().to_owned()).collect()
    }

    pub(super) async fn slots(&self) -> Seen {
        let is_standalone = self.figures().any(|figures| figures.mode.as_deref() == Some("standalone"));
        match (self.redis.is_cluster(), is_standalone) {
            (false, _) => {
                let remedy = "write redis+cluster:// in the place of redis:// in the URL";
                return ("the server is one node of a cluster".to_owned(), Verdict::fault(remedy));
            }
            (true, true) => {
                let remedy = "write redis:// in the place of redis+cluster:// in the URL";
                return ("the server is no cluster".to_owned(), Verdict::fault(remedy));
            }
            (true, false) => {}
        }
        let holes = self.redis.uncovered();
        let broken = self.who_takes_it_for_broken().await;
        if holes.is_empty() && !broken.is_empty() {
            let remedy = "CLUSTER NODES there says which other it cannot reach: open the ports between them, both that of \
                          clients and that of the bus (10000 above it), and CLUSTER MEET where it knows nobody";
            let value = format!("{} has the cluster for broken (cluster_state:fail)", broken.join(", "));
            return (value, Verdict::fault(remedy));
        }
        if holes.is_empty() {
            return ("every one has a node".to_owned(), Verdict::Well);
        }
        let missing: u32 = holes.iter().map(|(first, last)| u32::from(last - first) + 1).sum();
        let some: Vec<_> = holes.iter().take(3).map(|(first, last)| run(*first, *last)).collect();
        let more = if holes.len() > some.len() { ", …" } else { "" };
        let value = format!("{missing} have no node: {}{more}", some.join(", "));
        let remedy = "bring the node back that had them, or redis-cli --cluster fix with the address of any node; \
                      redis-cli --cluster check says more";
        (value, Verdict::fault(remedy))
    }
}

/// Whether a node says that it serves nobody.
fn is_broken(node: &Primary, told: &Result<Vec<Reply>, Unusable>) -> bool {
    match told {
        Ok(told) => {
            told.first().and_then(Reply::text).is_some_and(|text| text.contains("cluster_state:fail"))
        }
        Err(_) => node.trouble().is_some_and(|why| why.contains("cluster is down")),
    }
}

fn run(first: u16, last: u16) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}
