//! The groups of streams, and a stream of dead letters for each.

mod scripts;

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;

use self::scripts::{DEAD, FETCH, LEAVE, SETTLE};
use super::{
    DeadLetter, Id, Letter,
    backend::{Backend, Fetched, Left, Look, Seat, Settled, Verdict},
    builder::Begins,
};
use crate::{
    context::Remote,
    key::{Keys, Name},
    redis::{Reply, Road, Takeback, Unusable, Watch},
    topic::backend::Answer,
};

/// Whom a consumer that leaves hands over to: no name is encoded so.
const HEIR: &str = "%left";

/// How many dead letters are read at once.
const DEAD_LETTERS: &str = "32";

/// The groups in Redis.
#[derive(Debug)]
pub(in crate::topic) struct RedisBackend {
    pub(in crate::topic) keys: Keys,
    pub(in crate::topic) remote: Remote,
}

impl RedisBackend {
    fn both(&self, seat: &Seat) -> Vec<String> {
        vec![self.keys.stream(&seat.topic), self.keys.dead_letters(&seat.topic, &seat.group)]
    }

    async fn fetch(&self, seat: &Seat, look: Look) -> Result<Fetched, Unusable> {
        let options = &seat.options;
        let arguments = [
            seat.group.as_str().to_owned(),
            seat.consumer.to_string(),
            look.most.to_string(),
            millis(options.visibility),
            options.max_deliveries.to_string(),
            look.own.map_or_else(String::new, |id| id.to_string()),
            look.claim.to_string(),
            begins(options.begins, look.is_first).to_owned(),
            seat.retention.max_len.to_string(),
            millis(seat.retention.keep_for),
            u8::from(look.counts).to_string(),
        ];
        let arguments = arguments.each_ref().map(String::as_bytes);
        let answer = self.remote.redis.run(Road::Large, &FETCH, &self.both(seat), &arguments).await?;
        fetched(answer).ok_or(Unusable::Unanswered)
    }

    async fn settle(&self, seat: &Seat, letter: &Letter, verdict: Verdict<'_>) -> Result<Settled, Unusable> {
        let (keys, arguments) = (self.both(seat), self.settling(seat, letter, verdict));
        let again = || Takeback {
            redis: self.remote.redis.clone(),
            script: &SETTLE,
            keys: keys.clone(),
            arguments: arguments.clone(),
            road: Road::Usual,
        };
        let mut watch = Watch::unless_answered(again);
        if !matches!(verdict, Verdict::Done) {
            // The message is delivered again in any case.
            watch.answered();
        }
        let words: Vec<&[u8]> = arguments.iter().map(|word| &**word).collect();
        let answer = self.remote.redis.run(Road::Usual, &SETTLE, &keys, &words).await?;
        watch.answered();
        Ok(match answer.number() {
            Some(1) => Settled::Yes,
            Some(2) => Settled::Dead,
            Some(3) => Settled::Lost,
            _ => Settled::Gone,
        })
    }

    fn settling(&self, seat: &Seat, letter: &Letter, verdict: Verdict<'_>) -> Vec<Bytes> {
        let visibility = seat.options.visibility;
        let (word, idle, reason) = match verdict {
            Verdict::Done => ("done", Duration::ZERO, ""),
            Verdict::Failed { pause, reason } => ("failed", visibility.saturating_sub(pause), reason),
            Verdict::Renewed => ("renewed", Duration::ZERO, ""),
            Verdict::Unseen => ("unseen", visibility, ""),
        };
        [
            seat.group.as_str().to_owned(),
            seat.consumer.to_string(),
            letter.id.to_string(),
            letter.attempts.to_string(),
            word.to_owned(),
            millis(idle),
            seat.options.max_deliveries.to_string(),
            reason.to_owned(),
            seat.retention.max_len.to_string(),
            millis(seat.retention.keep_for),
            self.keys.topic_channel(&seat.topic),
        ]
        .map(Bytes::from)
        .into()
    }

    async fn leave(&self, seat: &Seat) -> Result<Left, Unusable> {
        let keys = [self.keys.stream(&seat.topic)];
        let visibility = millis(seat.options.visibility);
        let channel = self.keys.topic_channel(&seat.topic);
        let arguments = [seat.group.as_str(), &seat.consumer, HEIR, &visibility, &channel];
        let answer = self.remote.redis.run(Road::Usual, &LEAVE, &keys, &arguments.map(str::as_bytes)).await?;
        let numbers: Vec<_> = answer.into_list().iter().filter_map(Reply::number).collect();
        let [more, lost] = numbers[..] else { return Err(Unusable::NotDone) };
        Ok(Left { more: more == 1, lost: u64::try_from(lost).unwrap_or(0) })
    }

    async fn dead(&self, topic: &Name, group: &Name, after: Id) -> Result<Vec<DeadLetter>, Unusable> {
        let keys = [self.keys.dead_letters(topic, group)];
        let after = after.to_string();
        let arguments = [after.as_bytes(), DEAD_LETTERS.as_bytes()];
        let answer = self.remote.redis.run(Road::Large, &DEAD, &keys, &arguments).await?;
        Ok(answer.into_list().into_iter().filter_map(dead_letter).collect())
    }
}

/// A consumer that has looked before has seen the group: what there is now came later.
fn begins(begins: Begins, is_first: bool) -> &'static str {
    match begins {
        Begins::Now if is_first => "$",
        Begins::Now | Begins::Kept => "0",
    }
}

fn fetched(answer: Reply) -> Option<Fetched> {
    let mut parts = answer.into_list().into_iter();
    let (own, claim) = (parts.next()?, parts.next()?);
    let own = match own.text()? {
        "" => None,
        id => Some(id.parse().ok()?),
    };
    let mut number = || u64::try_from(parts.next()?.number()?).ok();
    let (lost, dead) = (number()?, number()?);
    let mut letters = Vec::with_capacity(parts.len() / 3);
    while let Some(place) = parts.next() {
        let (payload, attempts) = (parts.next()?.into_bytes()?, parts.next()?.number()?);
        letters.push(Letter::new(place.text()?.parse().ok()?, payload, u32::try_from(attempts).ok()?));
    }
    Some(Fetched { letters, own, claim: claim.text()?.parse().ok()?, lost, dead })
}

fn dead_letter(entry: Reply) -> Option<DeadLetter> {
    let mut entry = entry.into_list().into_iter();
    let (place, fields) = (entry.next()?, entry.next()?.into_list());
    let field = |name: &str| {
        let named = fields.chunks_exact(2).find(|pair| pair[0].text() == Some(name));
        named.and_then(|pair| pair[1].clone().into_bytes())
    };
    let text = |name: &str| Some(str::from_utf8(&field(name)?).ok()?.to_owned());
    let letter = Letter::new(text("id")?.parse().ok()?, field("m")?, text("attempts")?.parse().ok()?);
    Some(DeadLetter::new(place.text()?.parse().ok()?, letter, text("reason")?))
}

fn millis(span: Duration) -> String {
    span.as_millis().to_string()
}

impl Backend for RedisBackend {
    fn fetch<'a>(&'a self, seat: &'a Seat, look: Look) -> Answer<'a, Fetched> {
        self.fetch(seat, look).boxed()
    }

    fn settle<'a>(&'a self, seat: &'a Seat, letter: &'a Letter, verdict: Verdict<'a>) -> Answer<'a, Settled> {
        self.settle(seat, letter, verdict).boxed()
    }

    fn leave<'a>(&'a self, seat: &'a Seat) -> Answer<'a, Left> {
        self.leave(seat).boxed()
    }

    fn dead<'a>(&'a self, topic: &'a Name, group: &'a Name, after: Id) -> Answer<'a, Vec<DeadLetter>> {
        self.dead(topic, group, after).boxed()
    }
}
