//! A look at some of the keys: which have no expiry though all of ours have one, and which are big.
//!
//! Each look goes on where the last one ended, so that all keys are seen in time. It is bounded in keys, pages and time:
//! a production server is not to notice.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use crate::{
    clock::{Clock, Moment},
    key::Keys,
    redis::{Primary, Redis, Reply, Words, words},
};

/// How much one look may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleBounds {
    keys: usize,
    pages: usize,
    time: Duration,
}

/// What the looks of the last ten minutes have found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Sample {
    /// How many keys of the application the last look has seen.
    pub looked_at: usize,
    /// How many it has seen whose life the user may not ask for.
    pub withheld: usize,
    /// Whether it has seen all that there are.
    pub complete: bool,
    /// Keys of the application without expiry, of which none is ever written: at most 100.
    pub permanent: Vec<String>,
    /// The biggest keys, the biggest first: at most 20.
    pub biggest: Vec<BigKey>,
}

/// A key with what it weighs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BigKey {
    /// The key.
    pub key: String,
    /// The memory that it takes, in bytes; of large collections an estimate.
    pub bytes: u64,
}

/// For how long what was found is told.
const KEPT: Duration = Duration::from_secs(600);

const MOST_PERMANENT: usize = 100;
const MOST_BIG: usize = 20;

/// Keys in one round trip: a server is busy with them for about a tenth of a millisecond.
const AT_ONCE: usize = 100;

impl Default for SampleBounds {
    /// 500 keys, 20 pages of 500 keys each whosever they are, and 250 ms.
    fn default() -> Self {
        Self { keys: 500, pages: 20, time: Duration::from_millis(250) }
    }
}

impl SampleBounds {
    /// No step is made once so many keys of the application were looked at. Default: 500.
    #[must_use]
    pub fn keys(self, keys: usize) -> Self {
        Self { keys, ..self }
    }

    /// At most so many steps of `SCAN` are made, each over about 500 keys. Default: 20.
    #[must_use]
    pub fn pages(self, pages: usize) -> Self {
        Self { pages, ..self }
    }

    /// No step begins after so much time. Default: 250 ms.
    #[must_use]
    pub fn time(self, time: Duration) -> Self {
        Self { time, ..self }
    }
}

/// Where the last look ended, and what was found.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// By the name of the node; a node that is not there was seen to its end, or not at all.
    cursors: HashMap<String, u64>,
    permanent: BTreeMap<String, Moment>,
    big: HashMap<String, (u64, Moment)>,
    looked_at: usize,
    withheld: usize,
    complete: bool,
}

/// What is left of the bounds.
struct Left {
    keys: usize,
    pages: usize,
    until: Moment,
}

impl Sampler {
    /// Looks at some keys, beginning with the node that has waited longest.
    pub(super) async fn look(&mut self, redis: &Redis, keys: &Keys, bounds: SampleBounds) {
        let clock = redis.clock();
        let SampleBounds { keys: most, pages, time } = bounds;
        let mut left = Left { keys: most, pages, until: clock.now().after(time) };
        let nodes = redis.nodes();
        self.cursors.retain(|name, _| nodes.iter().any(|node| node.name() == name));
        let from_the_beginning = self.cursors.is_empty();
        let (begun, new): (Vec<_>, Vec<_>) =
            nodes.iter().partition(|node| self.cursors.contains_key(node.name()));
        (self.looked_at, self.withheld) = (0, 0);
        self.complete = from_the_beginning && !nodes.is_empty() && redis.uncovered().is_empty();
        for node in begun.into_iter().chain(new) {
            self.complete &= self.look_at(node, keys, clock, &mut left).await.unwrap_or(false);
        }
        self.forget(clock.now());
    }

    /// Whether the node was seen to its end; nothing where it did not answer.
    async fn look_at(&mut self, node: &Primary, keys: &Keys, clock: &Clock, left: &mut Left) -> Option<bool> {
        let pattern = keys.all();
        let mut cursor = self.cursors.get(node.name()).copied().unwrap_or(0);
        loop {
            if left.keys == 0 || left.pages == 0 || clock.now() >= left.until {
                self.cursors.insert(node.name().to_owned(), cursor);
                return Some(false);
            }
            left.pages -= 1;
            let (next, found) = node.scan(cursor, &pattern).await.ok()?;
            // Past this page already: one that cannot be weighed is not to be in the way of all behind it.
            match next {
                0 => self.cursors.remove(node.name()),
                _ => self.cursors.insert(node.name().to_owned(), next),
            };
            let ours: Vec<String> = found
                .iter()
                .filter_map(Reply::text)
                .filter(|key| keys.kind(key).is_some())
                .map(str::to_owned)
                .collect();
            for some in ours.chunks(AT_ONCE) {
                self.weigh(node, some, clock.now()).await?;
            }
            left.keys = left.keys.saturating_sub(ours.len());
            cursor = next;
            if cursor == 0 {
                return Some(true);
            }
        }
    }

    async fn weigh(&mut self, node: &Primary, keys: &[String], now: Moment) -> Option<()> {
        let commands: Vec<Words> = keys
            .iter()
            .flat_map(|key| [words(&["PTTL", key]), words(&["MEMORY", "USAGE", key, "SAMPLES", "5"])])
            .collect();
        let answers = node.look(&commands).await.ok()?;
        for (key, answer) in keys.iter().zip(answers.chunks_exact(2)) {
            self.note(key, &answer[0], &answer[1], now);
        }
        Some(())
    }

    fn note(&mut self, key: &str, life: &Reply, bytes: &Reply, now: Moment) {
        match life.number() {
            Some(_) => self.looked_at += 1,
            None => self.withheld += 1,
        }
        if life.number() != Some(-1) {
            self.permanent.remove(key);
        } else if self.permanent.len() < MOST_PERMANENT || self.permanent.contains_key(key) {
            self.permanent.insert(key.to_owned(), now);
        }
        match bytes.number().and_then(|bytes| u64::try_from(bytes).ok()) {
            Some(bytes) => self.note_big(key, bytes, now),
            // It is gone, or nobody may ask.
            None => drop(self.big.remove(key)),
        }
    }

    fn note_big(&mut self, key: &str, bytes: u64, now: Moment) {
        if self.big.len() >= MOST_BIG && !self.big.contains_key(key) {
            let smallest = self.big.iter().min_by_key(|(_, (bytes, _))| *bytes);
            match smallest.map(|(key, (bytes, _))| (key.clone(), *bytes)) {
                Some((key, least)) if least < bytes => drop(self.big.remove(&key)),
                _ => return,
            }
        }
        self.big.insert(key.to_owned(), (bytes, now));
    }

    fn forget(&mut self, now: Moment) {
        self.permanent.retain(|_, at| now.since(*at) < KEPT);
        self.big.retain(|_, (_, at)| now.since(*at) < KEPT);
    }

    pub(super) fn told(&self) -> Sample {
        let mut biggest: Vec<_> =
            self.big.iter().map(|(key, (bytes, _))| BigKey { key: key.clone(), bytes: *bytes }).collect();
        biggest.sort_by(|a, b| (Reverse(a.bytes), &a.key).cmp(&(Reverse(b.bytes), &b.key)));
        Sample {
            looked_at: self.looked_at,
            withheld: self.withheld,
            complete: self.complete,
            permanent: self.permanent.keys().cloned().collect(),
            biggest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::default().after(Duration::from_secs(seconds))
    }

    #[test]
    fn only_the_biggest_are_kept_however_many_are_seen() {
        let mut sampler = Sampler::default();
        for n in 0..1_000_i64 {
            sampler.note(&n.to_string(), &Reply::Number(-1), &Reply::Number((n * 7_919) % 1_000), at(0));
        }
        let told = sampler.told();
        assert_eq!(
            told.biggest.iter().map(|big| big.bytes).collect::<Vec<_>>(),
            (980..1_000).rev().collect::<Vec<_>>()
        );
        assert_eq!(told.permanent.len(), MOST_PERMANENT);
    }

    #[test]
    fn what_was_mended_or_is_gone_is_told_no_more() {
        let mut sampler = Sampler::default();
        sampler.note("a", &Reply::Number(-1), &Reply::Number(5), at(0));
        sampler.note("b", &Reply::Number(-1), &Reply::Number(6), at(0));
        sampler.note("a", &Reply::Number(1_000), &Reply::Nothing, at(1));
        let told = sampler.told();
        assert_eq!((told.permanent, told.biggest.len()), (vec!["b".to_owned()], 1));
        sampler.forget(at(600));
        let told = sampler.told();
        assert_eq!((told.permanent.len(), told.biggest.len()), (0, 0));
    }
}
