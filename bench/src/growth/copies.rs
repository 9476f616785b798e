//! Many keys in Redis, which are copies of one.

use anyhow::{Context, Result, ensure};
use forebay_rig::Redis;

const COPY: &str = include_str!("copy.lua");

/// So many keys are copied while nobody else is served.
const AT_ONCE: u64 = 20_000;

/// The name of an id, or of a subject.
pub(super) fn named(number: u64) -> String {
    format!("n-{number:09}")
}

/// The key whose name has the number 0 in it, and its copies.
#[derive(Debug)]
pub(super) struct Copies<'a> {
    redis: &'a Redis,
    key: String,
    parts: [String; 2],
    count: u64,
    /// What the server took before there were copies.
    bytes: f64,
}

impl<'a> Copies<'a> {
    /// Finds the key, which Forebay has made.
    pub(super) fn of(redis: &'a Redis) -> Result<Self> {
        let name = named(0);
        let keys = redis.call(&["KEYS", &format!("*{name}*")]);
        ensure!(keys.lines().count() == 1, "{name} has not one key in Redis but: {keys}");
        let (before, behind) = keys.split_once(&name[2..]).context("the key has the number in its name")?;
        let parts = [before.to_owned(), behind.to_owned()];
        Ok(Self { redis, key: keys, parts, count: 1, bytes: bytes(redis)? })
    }

    /// Copies until there are so many keys.
    pub(super) fn grow_to(&mut self, count: u64) -> Result<()> {
        while self.count < count {
            let last = count.min(self.count + AT_ONCE) - 1;
            let [before, behind] = &self.parts;
            let numbers = [self.count, last].map(|number| number.to_string());
            let answer =
                self.redis.call(&["EVAL", COPY, "1", &self.key, before, behind, &numbers[0], &numbers[1]]);
            ensure!(answer == "(nil)", "Redis copies no keys: {answer}");
            self.count = last + 1;
        }
        Ok(())
    }

    /// What each of them takes with its share of the tables.
    pub(super) fn bytes_each(&self) -> Result<f64> {
        Ok((bytes(self.redis)? - self.bytes) / self.count as f64)
    }
}

fn bytes(redis: &Redis) -> Result<f64> {
    let used = redis.field("memory", "used_memory").context("Redis says what it uses")?;
    Ok(used.parse()?)
}
