//! The numbers of a space and of its tags in Redis, all in one slot.

use std::time::Duration;

use super::{
    RedisBackend, millis,
    scripts::{NUMBERS, RAISE},
};
use crate::{
    bus::Kind,
    cache::{
        backend::{Budget, Purpose, Question, Unavailable},
        numbers::{Group, Known},
        options::life_of_numbers,
    },
    redis::{Reply, Request, Road},
};

impl RedisBackend {
    pub(super) async fn numbers(
        &self,
        question: Question<'_>,
        budget: &mut Budget,
    ) -> Result<Known, Unavailable> {
        let (purpose, life) = match question.purpose {
            Purpose::Look => ("look", Duration::ZERO),
            Purpose::Load => ("load", Duration::ZERO),
            Purpose::Fill(life) => ("fill", life),
        };
        let (keys, life, seen) = (self.number_keys(question.tags), self.number_life(life), self.seen());
        let arguments = [purpose.as_bytes(), life.as_bytes(), seen.as_bytes()];
        let run = Request::Run { script: &NUMBERS, keys: &keys, arguments: &arguments };
        let answer = self.spend(budget, run, Road::Usual).await?.into_list();
        if answer.len() != keys.len() + 1 {
            return Err(Unavailable);
        }
        let mut numbers = answer.iter().map(number);
        let (now, clear) = (numbers.next().flatten(), numbers.next().flatten());
        Ok(Known { now, clear, tags: numbers.collect() })
    }

    pub(super) async fn raise(&self, group: &Group, own: u64) -> Result<u64, Unavailable> {
        let (kind, id, tags) = match group {
            Group::Tag(tag) => (Kind::Tag, &**tag, std::slice::from_ref(tag)),
            Group::Space => (Kind::Clear, "-", [].as_slice()),
        };
        let keys = self.number_keys(tags);
        // A change that cannot be sent takes no number: nobody is to wait for it.
        if !self.redis.may_answer(&keys[0]) {
            return Err(Unavailable);
        }
        let announced = self.bus.announce(self.name.as_str(), id, kind);
        let (life, seen, own) = (self.number_life(Duration::ZERO), self.seen(), own.to_string());
        let channel = self.invalidations.as_bytes();
        let arguments = [life.as_bytes(), seen.as_bytes(), own.as_bytes(), channel, announced.message()];
        let answer = self.run(&RAISE, &keys, &arguments, Road::Usual).await?;
        let number = number(&answer).ok_or(Unavailable)?;
        // Whoever has given the message up does not know of the change: it is told anew.
        if announced.answered() { Ok(number) } else { Err(Unavailable) }
    }

    fn number_keys(&self, tags: &[Box<str>]) -> Vec<String> {
        let space = std::iter::once(self.keys.numbers(&self.name));
        space.chain(tags.iter().map(|tag| self.keys.tag(&self.name, tag))).collect()
    }

    fn number_life(&self, life: Duration) -> String {
        millis(life_of_numbers(self.longest.max(life)))
    }

    fn seen(&self) -> String {
        self.numbers.seen().to_string()
    }
}

fn number(reply: &Reply) -> Option<u64> {
    reply.text()?.parse().ok()
}
