//! The commands that the limiter's scripts may use.

use super::{
    reply::Reply,
    sorted::{Sorted, Span, integer},
    world::{Value, World},
};

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

impl World {
    /// Does one command. Errors that no script of ours may provoke are held against it even where it caught them.
    pub(super) fn command(&mut self, words: &[Vec<u8>]) -> Reply {
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        if let [name, key, ..] = words[..]
            && name != b"PUBLISH"
        {
            self.touch(key);
        }
        let reply = match words[..] {
            [b"TIME"] => Some(self.time()),
            [b"PUBLISH", channel, message] => {
                self.published.push((channel.to_vec(), message.to_vec()));
                Some(Reply::Integer(0))
            }
            [b"DEL", key] => Some(Reply::Integer(self.remove(key).into())),
            [b"PTTL", key] => Some(Reply::Integer(self.life(key))),
            [b"PEXPIRE", key, life] => {
                integer(life).map(|life| Reply::Integer(self.expire(key, life).into()))
            }
            [b"GET", key] => Some(self.get(key)),
            [b"SET", key, value, b"PX", life] => self.set(key, value, life),
            _ => self.sorted_command(&words),
        };
        reply.unwrap_or_else(|| self.refuse(&words))
    }

    fn refuse(&mut self, words: &[&[u8]]) -> Reply {
        let line = words.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ");
        self.blame(format!("sent the command {line:?}"));
        Reply::Error(format!("ERR {line}"))
    }

    /// No two scripts see the same microsecond, and most must round.
    fn time(&self) -> Reply {
        let micros = self.now.rem_euclid(1000) * 1000 + (self.runs * 487).rem_euclid(1000);
        let parts = [self.now.div_euclid(1000), micros];
        Reply::Many(parts.iter().map(|part| Reply::Bulk(part.to_string().into_bytes())).collect())
    }

    fn life(&mut self, key: &[u8]) -> i64 {
        let now = self.now;
        self.live(key).map_or(-2, |entry| entry.deadline.map_or(-1, |deadline| deadline - now))
    }

    fn get(&mut self, key: &[u8]) -> Reply {
        match self.live(key).map(|entry| &entry.value) {
            None => Reply::Nil,
            Some(Value::Text(text)) => Reply::Bulk(text.clone()),
            Some(_) => Reply::Error(WRONG_TYPE.into()),
        }
    }

    fn set(&mut self, key: &[u8], value: &[u8], life: &[u8]) -> Option<Reply> {
        let life = integer(life).filter(|life| *life > 0)?;
        self.put(key, Value::Text(value.to_vec()), Some(life));
        Some(Reply::Status("OK"))
    }

    fn sorted_command(&mut self, words: &[&[u8]]) -> Option<Reply> {
        let [name, key, rest @ ..] = words else { return None };
        match self.live(key).map(|entry| &mut entry.value) {
            Some(Value::Sorted(sorted)) => {
                let reply = on_sorted(sorted, name, rest);
                if sorted.len() == 0 {
                    self.remove(key);
                }
                reply
            }
            Some(_) => name.starts_with(b"Z").then(|| Reply::Error(WRONG_TYPE.into())),
            None => {
                let mut sorted = Sorted::default();
                let reply = on_sorted(&mut sorted, name, rest);
                if sorted.len() > 0 {
                    self.put(key, Value::Sorted(sorted), None);
                }
                reply
            }
        }
    }
}

fn on_sorted(sorted: &mut Sorted, name: &[u8], rest: &[&[u8]]) -> Option<Reply> {
    match (name, rest) {
        (b"ZSCORE", [member]) => {
            Some(sorted.score(member).map_or(Reply::Nil, |score| Reply::Bulk(score.to_string().into_bytes())))
        }
        (b"ZCARD", []) => Some(Reply::count(sorted.len())),
        (b"ZADD", pairs) if !pairs.is_empty() => add(sorted, pairs),
        (b"ZREM", members) if !members.is_empty() => {
            Some(Reply::count(members.iter().filter(|member| sorted.remove(member)).count()))
        }
        (b"ZCOUNT", [from, to]) => Some(Reply::count(sorted.within(Span::read(from, to)?).count())),
        (b"ZREMRANGEBYSCORE", [from, to]) => {
            let span = Span::read(from, to)?;
            let old: Vec<_> = sorted.within(span).map(|(_, member)| member.clone()).collect();
            Some(Reply::count(old.iter().filter(|member| sorted.remove(member)).count()))
        }
        (b"ZREVRANGE", [from, to, with @ ..]) => {
            let (from, to) = (integer(from)?, integer(to)?);
            let taken = usize::try_from(to - from + 1).ok()?;
            listed(sorted.downwards().skip(usize::try_from(from).ok()?).take(taken), with)
        }
        (b"ZRANGEBYSCORE", [from, to, options @ ..]) => by_score(sorted, Span::read(from, to)?, options),
        _ => None,
    }
}

fn add(sorted: &mut Sorted, pairs: &[&[u8]]) -> Option<Reply> {
    let mut added = 0;
    for pair in pairs.chunks(2) {
        let [score, member] = pair else { return None };
        added += usize::from(sorted.add(integer(score)?, member));
    }
    Some(Reply::count(added))
}

fn by_score(sorted: &Sorted, span: Span, options: &[&[u8]]) -> Option<Reply> {
    let (skip, take, with) = match options {
        [b"LIMIT", skip, take] => (integer(skip)?, integer(take)?, None),
        [b"LIMIT", skip, take, with] | [with, b"LIMIT", skip, take] => {
            (integer(skip)?, integer(take)?, Some(*with))
        }
        [] => (0, i64::MAX, None),
        [with] => (0, i64::MAX, Some(*with)),
        _ => return None,
    };
    let [skip, take] = [skip, take].map(|count| usize::try_from(count).ok());
    listed(sorted.within(span).skip(skip?).take(take?), with.as_slice())
}

fn listed<'a>(members: impl Iterator<Item = &'a (i64, Vec<u8>)>, with: &[&[u8]]) -> Option<Reply> {
    let scores = match with {
        [] => false,
        [b"WITHSCORES"] => true,
        _ => return None,
    };
    let one = |(score, member): &(i64, Vec<u8>)| {
        let score = scores.then(|| Reply::Bulk(score.to_string().into_bytes()));
        std::iter::once(Reply::Bulk(member.clone())).chain(score)
    };
    Some(Reply::Many(members.flat_map(one).collect()))
}
