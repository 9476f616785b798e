//! Whether the user may give every command that Forebay gives: each is tried, on keys of no use and in a form that does no
//! harm. That works on every version, and needs no right to look at rights.

use std::{collections::BTreeSet, mem};

use super::{
    Verdict,
    ailment::Ailment,
    exam::{Exam, Seen},
};
use crate::{
    key::Kind,
    redis::{Primary, Reply, UNKNOWN, Words},
};

/// Commands of strings.
const STRING: &[&str] = &["GET", "GETRANGE 0 0", "PTTL", "EXISTS", "PEXPIRE 60000"];
const HASH: &[&str] = &["HGET f", "HMGET f", "HSET f v", "PTTL", "PEXPIRE 60000"];
const LIMIT: &[&str] = &[
    "GET",
    "PTTL",
    "PEXPIRE 60000",
    "ZADD 1 m",
    "ZREM m",
    "ZSCORE m",
    "ZCOUNT 0 1",
    "ZRANGEBYSCORE 0 1",
    "ZREMRANGEBYSCORE 0 1",
    "ZREVRANGE 0 1",
];
const VISITORS: &[&str] = &["PFADD m", "PFCOUNT", "PEXPIREAT 1"];
const FILTER: &[&str] =
    &["GET", "STRLEN", "EXISTS", "PTTL", "PEXPIRE 60000", "SETBIT 0 0", "GETBIT 0", "BITCOUNT", "UNLINK"];
const STREAM: &[&str] = &[
    "EXISTS",
    "PTTL",
    "PEXPIRE 60000",
    "XADD * f v",
    "XRANGE - + COUNT 1",
    "XREVRANGE + - COUNT 1",
    "XTRIM MAXLEN 1",
    "XACK g 1-1",
    "XCLAIM g c 1 1-1",
    "XAUTOCLAIM g c 1 0",
    "XPENDING g",
];

/// Those whose key is not their first argument, at its place.
const STREAM_APART: &[&str] = &[
    "XGROUP CREATE {} g $",
    "XGROUP DELCONSUMER {} g c",
    "XINFO STREAM {}",
    "XINFO GROUPS {}",
    "XINFO CONSUMERS {} g",
    "XREADGROUP GROUP g c COUNT 1 STREAMS {} 0",
];

/// What needs no key; `{}` is a channel.
const APART: &[&str] = &[
    "PING",
    "TIME",
    "SCAN 0 COUNT 1",
    "EVALSHA 0123456789012345678901234567890123456789 0",
    "PUBLISH {} doctor",
];
const EVAL: [&str; 3] = ["EVAL", "return 1", "0"];

/// Only this examination needs it, or what few use.
const EXTRA: &[&str] = &["WAIT 0 1", "CONFIG GET save"];

/// The commands that are tried on a key of this kind, once it is a string.
fn commands(kind: Kind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        Kind::Value | Kind::Tag | Kind::Lock | Kind::Fence | Kind::Claim | Kind::Once => (STRING, &[]),
        Kind::Lease | Kind::Numbers => (HASH, &[]),
        Kind::Limit => (LIMIT, &[]),
        Kind::Visitors => (VISITORS, &[]),
        Kind::Filter => (FILTER, &[]),
        Kind::Stream => (STREAM, STREAM_APART),
    }
}

/// Commands that cannot be given, by why not.
#[derive(Default)]
struct Lacking {
    /// The user may not.
    denied: BTreeSet<String>,
    /// The server has none of that name.
    missing: BTreeSet<String>,
    /// Nobody answers.
    unanswered: BTreeSet<String>,
}

impl Lacking {
    fn is_empty(&self) -> bool {
        [&self.denied, &self.missing, &self.unanswered].iter().all(|commands| commands.is_empty())
    }

    /// Takes what a command was answered.
    fn take(&mut self, command: &str, answer: Option<&Reply>) {
        match answer.map(Reply::code) {
            Some(Some(NOT_ALLOWED)) => self.denied.insert(command.to_owned()),
            Some(Some(UNKNOWN)) => self.missing.insert(command.to_owned()),
            _ => false,
        };
    }

    fn extend(&mut self, other: Self) {
        self.denied.extend(other.denied);
        self.missing.extend(other.missing);
        self.unanswered.extend(other.unanswered);
    }
}

/// What cannot be done.
#[derive(Default)]
struct Denied {
    needed: Lacking,
    extra: Lacking,
    /// Where, if not at every node of a cluster: each has users of its own.
    at: BTreeSet<String>,
    /// Why some commands were not tried.
    untried: Option<String>,
    /// The code with which all writes are refused.
    refuses_writes: Option<String>,
}

impl Denied {
    /// Adds what one node of a cluster does not allow.
    fn add(&mut self, node: &Primary, of_node: Self) {
        if !of_node.needed.is_empty() || !of_node.extra.is_empty() {
            self.at.insert(node.name().to_owned());
        }
        self.needed.extend(of_node.needed);
        self.extra.extend(of_node.extra);
        self.untried = self.untried.take().or(of_node.untried);
        self.refuses_writes = self.refuses_writes.take().or(of_node.refuses_writes);
    }
}

impl Exam<'_> {
    pub(super) async fn rights(&mut self) -> Seen {
        let nodes = self.redis.nodes();
        if !self.redis.is_cluster() || nodes.is_empty() {
            let denied = self.try_everything().await;
            return self.judged(denied);
        }
        let mut denied = Denied::default();
        for node in &nodes {
            let of_node = self.try_at(node).await;
            denied.add(node, of_node);
        }
        if denied.at.len() == nodes.len() {
            denied.at.clear();
        }
        self.judged(denied)
    }

    /// Tries everything at one node of a cluster, on a connection to that one. If it is lost, the own one is not.
    async fn try_at(&mut self, node: &Primary) -> Denied {
        let own = mem::replace(&mut self.probe, node.probe().await);
        let mut denied = match &self.probe {
            Err(why) => Denied {
                untried: Some(format!("{} cannot be asked: {why}", node.name())),
                ..Denied::default()
            },
            Ok(_) => self.try_everything().await,
        };
        self.probe = own;
        if mem::take(&mut self.is_lost) {
            denied.untried = Some(format!("{} no longer answers", node.name()));
        }
        denied
    }

    async fn try_everything(&mut self) -> Denied {
        let mut denied = Denied::default();
        for kind in Kind::ALL {
            self.try_on(kind, &mut denied).await;
        }
        let channel = self.keys().scratch_channel(&self.home.token());
        let mut apart: Vec<Words> = APART.iter().map(|command| spelled(command, &channel)).collect();
        apart.push(EVAL.map(str::to_owned).into());
        if self.redis.is_cluster() {
            apart.push(spelled("CLUSTER SLOTS", ""));
        }
        self.try_all(apart, &mut denied.needed).await;
        let extra = EXTRA.iter().map(|command| spelled(command, "")).collect();
        self.try_all(extra, &mut denied.extra).await;
        if let Ok(probe) = &mut self.probe {
            match probe.subscribe(&channel).await {
                None => {
                    denied.needed.unanswered.insert("SUBSCRIBE".to_owned());
                    // Whoever waits for that answer may hear no other.
                    self.probe = self.redis.probe().await;
                }
                answer => denied.needed.take("SUBSCRIBE", answer.as_ref()),
            }
        }
        denied
    }

    /// Makes a string with an expiry of a key, tries everything on it, and removes it. What would make something else of the
    /// key is refused for its type. Without that string nothing is tried, as it might leave something behind.
    async fn try_on(&mut self, kind: Kind, denied: &mut Denied) {
        let key = self.keys().scratch(kind, &self.home.token());
        match self.ask(&["SET", &key, "doctor", "PX", "60000"]).await {
            None => return,
            Some(Reply::Error(code)) if [NOT_ALLOWED, UNKNOWN].contains(&code.as_str()) => {
                return denied.needed.take("SET", Some(&Reply::Error(code)));
            }
            // A key of another node of the cluster: nothing is done to it, but who may not do it is told so first.
            Some(Reply::Error(code)) if ["MOVED", "ASK"].contains(&code.as_str()) => {}
            Some(Reply::Error(code)) => {
                denied.untried.get_or_insert(format!("the server answers {code}"));
                denied.refuses_writes.get_or_insert(code);
                return;
            }
            Some(_) => {}
        }
        let (first, apart) = commands(kind);
        let mut commands: Vec<Words> = first.iter().map(|command| keyed(command, &key)).collect();
        commands.extend(apart.iter().map(|command| spelled(command, &key)));
        commands.push(keyed("DEL", &key));
        self.try_all(commands, &mut denied.needed).await;
    }

    async fn try_all(&mut self, commands: Vec<Words>, lacking: &mut Lacking) {
        for command in commands {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let answer = self.ask(&words).await;
            lacking.take(&command[0], answer.as_ref());
        }
    }

    fn judged(&mut self, denied: Denied) -> Seen {
        self.lacks_rights = !denied.needed.is_empty();
        self.refuses_writes = denied.refuses_writes;
        let (at, user) = (&denied.at, self.user.as_deref().unwrap_or("…"));
        let remedy = |lacking: &Lacking| {
            let keys = format!("~{} &{}", self.keys().all(), self.keys().channels());
            lacking.remedy(user, &keys)
        };
        match (denied.needed.is_empty(), denied.extra.is_empty()) {
            (false, _) => (denied.needed.in_words(at), Verdict::fault(remedy(&denied.needed))),
            _ if let Some(why) = denied.untried => {
                let reason = format!("commands on keys could not be tried, as {why}");
                match self.refuses_writes.as_deref() {
                    Some(code) if Ailment::has_a_check(code) => (String::new(), Verdict::skipped(reason)),
                    code => {
                        let remedy = code.and_then(Ailment::of).map_or(UNTRIED, |ailment| ailment.remedy);
                        (reason, Verdict::fault(remedy))
                    }
                }
            }
            (true, false) => {
                let more = "waiting for replicas (WAIT) and a look at settings (CONFIG GET) need them";
                (denied.extra.in_words(at), Verdict::warning(format!("{}; {more}", remedy(&denied.extra))))
            }
            (true, true) => ("all commands on all keys".to_owned(), Verdict::Well),
        }
    }
}

impl Lacking {
    fn in_words(&self, at: &BTreeSet<String>) -> String {
        let at: Vec<_> = at.iter().map(String::as_str).collect();
        let place = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
        let kinds = [
            ("not allowed", &self.denied),
            ("no such command", &self.missing),
            ("no answer", &self.unanswered),
        ];
        let named = kinds.into_iter().filter(|(_, commands)| !commands.is_empty()).map(|(what, commands)| {
            let some: Vec<_> = commands.iter().take(6).map(String::as_str).collect();
            let more = if commands.len() > some.len() { ", …" } else { "" };
            format!("{what}{place}: {}{more}", some.join(", "))
        });
        named.collect::<Vec<_>>().join("; ")
    }

    /// What to do for `user`, who needs these `keys` and channels.
    fn remedy(&self, user: &str, keys: &str) -> String {
        let mut parts = Vec::new();
        if !self.denied.is_empty() {
            let grants: Vec<_> = self.denied.iter().map(|command| format!("+{}", granted(command))).collect();
            parts.push(format!("ACL SETUSER {user} {} {keys}", grants.join(" ")));
        }
        if !self.missing.is_empty() {
            let missing: Vec<_> = self.missing.iter().map(String::as_str).collect();
            parts.push(format!(
                "undo the rename-command of {}, or use a server, or a proxy, that has them",
                missing.join(", ")
            ));
        }
        if !self.unanswered.is_empty() {
            parts.push("look for a proxy between that does not pass SUBSCRIBE on".to_owned());
        }
        parts.join("; ")
    }
}

const NOT_ALLOWED: &str = "NOPERM";

/// What to do about a node that cannot be asked.
const UNTRIED: &str = "look whether it still runs, into its log, and what it is asked to do (SLOWLOG GET)";

/// A command as rights name it: of one that can do much, only what is needed.
fn granted(command: &str) -> String {
    match command {
        "CONFIG" => "config|get".to_owned(),
        command => command.to_lowercase(),
    }
}

/// A command with its key as the first argument.
fn keyed(command: &str, key: &str) -> Words {
    let mut words: Words = command.split(' ').map(str::to_owned).collect();
    words.insert(1, key.to_owned());
    words
}

/// A command with something at the place of `{}`.
fn spelled(command: &str, put: &str) -> Words {
    command.split(' ').map(|word| if word == "{}" { put } else { word }.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// Every command that a script of the library gives.
    fn given(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                given(&entry, found);
            } else if entry.extension().is_some_and(|end| end == "lua") {
                let text = fs::read_to_string(&entry).unwrap();
                let calls = text.split("call('").skip(1).filter_map(|rest| rest.split('\'').next());
                found.extend(calls.map(str::to_owned));
            }
        }
    }

    #[test]
    fn everything_that_scripts_do_is_tried() {
        let mut found = BTreeSet::new();
        given(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.len() > 30, "{found:?}");
        let all = Kind::ALL.into_iter().map(commands).flat_map(|(first, apart)| [first, apart]);
        let tried: BTreeSet<_> =
            all.chain([APART, EXTRA]).flatten().filter_map(|one| one.split(' ').next()).collect();
        // Every server is asked for INFO before: whether it tells is a matter of the version.
        let untried: Vec<_> = found
            .iter()
            .filter(|name| !["SET", "DEL", "INFO"].contains(&name.as_str()) && !tried.contains(name.as_str()))
            .collect();
        assert_eq!(untried, Vec::<&String>::new());
    }

    #[test]
    fn a_key_is_put_where_the_command_has_it() {
        assert_eq!(keyed("GETRANGE 0 0", "k"), ["GETRANGE", "k", "0", "0"]);
        assert_eq!(spelled("XGROUP CREATE {} g $", "k"), ["XGROUP", "CREATE", "k", "g", "$"]);
    }
}
