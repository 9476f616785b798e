//! The groups of one process.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use futures::{FutureExt, future::ready};

use super::{
    DeadLetter, Id, Letter,
    backend::{Backend, Fetched, Left, Look, Seat, Settled, Verdict},
    builder::Begins,
};
use crate::{
    clock::Moment,
    expiring::Next,
    key::Name,
    topic::{
        backend::Answer,
        memory::{MemoryBackend, Stream, Streams},
    },
};

/// How many dead letters are read at once.
const DEAD_LETTERS: usize = 32;

/// What a group knows.
#[derive(Debug)]
pub(in crate::topic) struct Members {
    /// The last message that was delivered to anybody.
    delivered: Id,
    pending: BTreeMap<Id, Pending>,
}

/// A message that was delivered and is not settled.
#[derive(Debug)]
struct Pending {
    consumer: Arc<str>,
    attempts: u32,
    /// From when on others get it.
    due: Moment,
}

/// What a group has put aside.
#[derive(Debug, Default)]
pub(in crate::topic) struct DeadLetters {
    letters: VecDeque<DeadLetter>,
    last: Option<Id>,
}

/// One look of a consumer.
struct Fetch<'a> {
    streams: &'a Streams,
    seat: &'a Seat,
    dead: &'a str,
    now: Moment,
    fetched: Fetched,
}

impl Fetch<'_> {
    fn is_full(&self, look: Look) -> bool {
        self.fetched.letters.len() >= look.most
    }

    fn run(&mut self, stream: &mut Stream, look: Look) {
        let Stream { messages, last, groups } = stream;
        let begin = match self.seat.options.begins {
            Begins::Now if look.is_first => last.unwrap_or(Id::BEGINNING),
            Begins::Now | Begins::Kept => Id::BEGINNING,
        };
        let group = groups
            .entry(self.seat.group.clone())
            .or_insert_with(|| Members { delivered: begin, pending: BTreeMap::new() });
        if let Some(own) = look.own {
            let had = group
                .pending
                .iter()
                .filter(|(id, pending)| **id > own && pending.consumer == self.seat.consumer);
            let had: Vec<Id> = had.map(|(id, _)| *id).take(look.most).collect();
            self.fetched.own = had.last().copied().filter(|_| had.len() == look.most);
            had.into_iter().for_each(|id| self.again(group, messages, id, u32::from(look.counts)));
        }
        if self.fetched.own.is_some() {
            return;
        }
        let now = self.now;
        let due = group.pending.iter().filter(|(_, pending)| pending.due <= now).map(|(id, _)| *id);
        for id in due.collect::<Vec<_>>() {
            if self.is_full(look) {
                return;
            }
            self.again(group, messages, id, 1);
        }
        self.new_ones(group, messages, look);
    }

    /// Delivers a message that was delivered before, which counts or does not.
    fn again(&mut self, group: &mut Members, messages: &VecDeque<(Id, Bytes)>, id: Id, once_more: u32) {
        let Some(pending) = group.pending.get_mut(&id) else { return };
        let Some(payload) = find(messages, id) else {
            group.pending.remove(&id);
            self.fetched.lost += 1;
            return;
        };
        if pending.attempts + once_more > self.seat.options.max_deliveries {
            let letter = Letter::new(id, payload, pending.attempts);
            group.pending.remove(&id);
            self.streams.bury(self.dead, self.seat, letter, "nobody has acknowledged it");
            self.fetched.dead += 1;
            return;
        }
        pending.attempts += once_more;
        pending.due = self.now.after(self.seat.options.visibility);
        pending.consumer = self.seat.consumer.clone();
        self.fetched.letters.push(Letter::new(id, payload, pending.attempts));
    }

    fn new_ones(&mut self, group: &mut Members, messages: &VecDeque<(Id, Bytes)>, look: Look) {
        let first = messages.partition_point(|(id, _)| *id <= group.delivered);
        if let Some((id, _)) = messages.get(first)
            && group.delivered != Id::BEGINNING
            && !self.is_full(look)
        {
            self.fetched.lost += group.delivered.between(*id).unwrap_or(0);
        }
        for (id, payload) in messages.range(first..) {
            if self.is_full(look) {
                return;
            }
            let due = self.now.after(self.seat.options.visibility);
            let pending = Pending { consumer: self.seat.consumer.clone(), attempts: 1, due };
            group.pending.insert(*id, pending);
            group.delivered = *id;
            self.fetched.letters.push(Letter::new(*id, payload.clone(), 1));
        }
    }
}

fn find(messages: &VecDeque<(Id, Bytes)>, id: Id) -> Option<Bytes> {
    let place = messages.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    Some(messages[place].1.clone())
}

impl Streams {
    fn fetch(&self, name: &str, dead: &str, seat: &Seat, look: Look) -> Fetched {
        let nothing = Fetched { letters: Vec::new(), own: None, claim: Id::BEGINNING, lost: 0, dead: 0 };
        self.streams.step(name, |stream| {
            let mut fetch = Fetch { streams: self, seat, dead, now: self.clock.now(), fetched: nothing };
            match stream {
                Some((stream, _)) => {
                    fetch.run(stream, look);
                    (Next::Keep, fetch.fetched)
                }
                None => {
                    let mut stream = Stream::default();
                    fetch.run(&mut stream, look);
                    (Next::Set(stream, seat.retention.keep_for), fetch.fetched)
                }
            }
        })
    }

    fn settle(&self, name: &str, dead: &str, seat: &Seat, letter: &Letter, verdict: Verdict<'_>) -> Settled {
        self.streams.step(name, |stream| {
            let settled = stream.and_then(|(stream, _)| {
                let Stream { messages, groups, .. } = stream;
                let group = groups.get_mut(&seat.group)?;
                if matches!(verdict, Verdict::Done) {
                    return group.pending.remove(&letter.id).map(|_| Settled::Yes);
                }
                let is_kept = find(messages, letter.id).is_some();
                Some(self.unsettle(group, is_kept, dead, seat, letter, verdict))
            });
            (Next::Keep, settled.unwrap_or(Settled::Gone))
        })
    }

    /// Settles what is not done.
    fn unsettle(
        &self,
        group: &mut Members,
        is_kept: bool,
        dead: &str,
        seat: &Seat,
        letter: &Letter,
        verdict: Verdict<'_>,
    ) -> Settled {
        let (id, now) = (letter.id, self.clock.now());
        let Some(pending) = group.pending.get_mut(&id) else { return Settled::Gone };
        if pending.consumer != seat.consumer || pending.attempts != letter.attempts {
            return Settled::Gone;
        }
        match verdict {
            Verdict::Failed { .. } if !is_kept => {
                group.pending.remove(&id);
                return Settled::Lost;
            }
            Verdict::Failed { reason, .. } if letter.attempts >= seat.options.max_deliveries => {
                group.pending.remove(&id);
                self.bury(dead, seat, letter.clone(), reason);
                return Settled::Dead;
            }
            Verdict::Failed { pause, .. } => pending.due = now.after(pause),
            Verdict::Unseen => {
                pending.attempts -= 1;
                pending.due = now;
            }
            Verdict::Renewed | Verdict::Done => pending.due = now.after(seat.options.visibility),
        }
        Settled::Yes
    }

    fn leave(&self, name: &str, seat: &Seat) -> Left {
        let now = self.clock.now();
        self.streams.step(name, |stream| {
            let mut lost = 0;
            if let Some((Stream { messages, groups, .. }, _)) = stream
                && let Some(group) = groups.get_mut(&seat.group)
            {
                group.pending.retain(|id, pending| {
                    let is_own = pending.consumer == seat.consumer;
                    if is_own {
                        pending.due = now;
                    }
                    let is_lost = is_own && find(messages, *id).is_none();
                    lost += u64::from(is_lost);
                    !is_lost
                });
            }
            (Next::Keep, Left { more: false, lost })
        })
    }

    fn bury(&self, dead: &str, seat: &Seat, letter: Letter, reason: &str) {
        let now = self.now();
        self.dead.step(dead, |buried| {
            let mut made = DeadLetters::default();
            let (buried, is_new) = match buried {
                Some((buried, _)) => (buried, false),
                None => (&mut made, true),
            };
            let id = buried.last.unwrap_or(Id::BEGINNING).next(now);
            buried.last = Some(id);
            buried.letters.push_back(DeadLetter::new(id, letter, reason.to_owned()));
            let most = usize::try_from(seat.retention.max_len).unwrap_or(usize::MAX);
            while buried.letters.len() > most {
                buried.letters.pop_front();
            }
            let life = seat.retention.keep_for;
            (if is_new { Next::Set(made, life) } else { Next::Prolong(life) }, ())
        });
    }

    fn dead_letters(&self, dead: &str, after: Id) -> Vec<DeadLetter> {
        self.dead.step(dead, |buried| {
            let letters = buried.map(|(buried, _)| {
                let some = buried.letters.iter().filter(|letter| letter.id > after);
                some.take(DEAD_LETTERS).cloned().collect()
            });
            (Next::Keep, letters.unwrap_or_default())
        })
    }
}

impl Backend for MemoryBackend {
    fn fetch<'a>(&'a self, seat: &'a Seat, look: Look) -> Answer<'a, Fetched> {
        let dead = self.keys.dead_letters(&seat.topic, &seat.group);
        ready(Ok(self.streams.fetch(&self.keys.stream(&seat.topic), &dead, seat, look))).boxed()
    }

    fn settle<'a>(&'a self, seat: &'a Seat, letter: &'a Letter, verdict: Verdict<'a>) -> Answer<'a, Settled> {
        let (name, dead) = (self.keys.stream(&seat.topic), self.keys.dead_letters(&seat.topic, &seat.group));
        let settled = self.streams.settle(&name, &dead, seat, letter, verdict);
        if matches!(verdict, Verdict::Unseen) {
            self.wake.wake(&name);
        }
        ready(Ok(settled)).boxed()
    }

    fn leave<'a>(&'a self, seat: &'a Seat) -> Answer<'a, Left> {
        let name = self.keys.stream(&seat.topic);
        let left = self.streams.leave(&name, seat);
        self.wake.wake(&name);
        ready(Ok(left)).boxed()
    }

    fn dead<'a>(&'a self, topic: &'a Name, group: &'a Name, after: Id) -> Answer<'a, Vec<DeadLetter>> {
        let dead = self.keys.dead_letters(topic, group);
        ready(Ok(self.streams.dead_letters(&dead, after))).boxed()
    }
}
