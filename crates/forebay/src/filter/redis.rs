//! The store that processes share: a pointer, and the bitmaps it names.
//!
//! Whoever asks names the pointer that it knows, and is told the present one if that is another: so every script is given
//! all its keys, and none acts on a bitmap that is not in use any more.

mod ask;
mod pointer;
mod scripts;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::FutureExt;

use self::{
    ask::Ask,
    pointer::{Generation, Pointer, number},
    scripts::ABANDON,
};
use super::{
    answer::Figures,
    backend::{Backend, Beginning, Seen, Step, Told},
    mark::Mark,
    shape::Shape,
};
use crate::{
    clock::{Clock, Moment},
    context::Remote,
    key::{Keys, Name},
    redis::{Redis, Reply, Request, Road, Takeback, Unusable},
    sync::Mutex,
    token::Token,
};

/// How many ids a script is given at most: about a millisecond of the server's time.
const MOST: usize = 500;

/// How often a pointer may turn out to be another on the way of one call.
const ATTEMPTS: usize = 8;

/// By how many times its life is longer than the time after which it is prolonged.
const SHARE: u32 = 30;

/// One filter in Redis.
#[derive(Debug)]
pub(super) struct RedisBackend {
    name: Name,
    keys: Keys,
    remote: Remote,
    clock: Clock,
    keep: Duration,
    lease: Duration,
    known: Mutex<Arc<Pointer>>,
    /// When the keys were last given their whole life.
    prolonged: Mutex<Option<Moment>>,
}

impl RedisBackend {
    pub(super) fn new(
        name: Name,
        keys: Keys,
        remote: Remote,
        clock: Clock,
        keep: Duration,
        lease: Duration,
    ) -> Self {
        let known = Mutex::new(Arc::new(Pointer::none()));
        Self { name, keys, remote, clock, keep, lease, known, prolonged: Mutex::default() }
    }

    async fn check(&self, marks: &[Mark]) -> Result<Vec<Seen>, Unusable> {
        let mut seen = Vec::with_capacity(marks.len());
        for marks in marks.chunks(MOST) {
            let life = self.life();
            let ask = |known: &Pointer| match &known.current {
                Some(current) => Ask::check(self.bits(current), current, marks, life),
                None => Ask::pointer(),
            };
            let (known, reply) = self.run(ask).await?;
            let bytes = reply.into_bytes().ok_or(Unusable::NotDone)?;
            match known.current {
                Some(_) => seen.extend(bytes.iter().map(|byte| sight(*byte))),
                None => seen.extend(marks.iter().map(|_| Seen::Incomplete)),
            }
            self.note_life(life);
        }
        if seen.len() == marks.len() { Ok(seen) } else { Err(Unusable::NotDone) }
    }

    async fn add(&self, marks: &[Mark]) -> Result<(), Unusable> {
        for marks in marks.chunks(MOST) {
            let life = self.life();
            let ask = |known: &Pointer| {
                let all = known.current.iter().chain(&known.next).map(|meant| (self.bits(meant), meant));
                Ask::add(all, marks, if known.current.is_some() { life } else { Duration::ZERO })
            };
            let (known, _) = self.run(ask).await?;
            // It may name bitmaps to which this process does not know how to add.
            if !known.legible {
                return Err(Unusable::NotDone);
            }
            self.note_life(life);
        }
        Ok(())
    }

    async fn look(&self) -> Result<Figures, Unusable> {
        let ask = |known: &Pointer| {
            let [current, next] = [&known.current, &known.next]
                .map(|bitmap| bitmap.as_ref().map(|bitmap| (self.bits(bitmap), bitmap)));
            Ask::look(self.pointer(), current, next)
        };
        let (known, reply) = self.run(ask).await?;
        let numbers: Vec<i64> = reply.into_list().iter().filter_map(Reply::number).collect();
        let [believed, rebuilding, set] = *numbers else { return Err(Unusable::NotDone) };
        let figures = known.current.as_ref().map_or_else(Figures::none, |current| {
            let share = set as f64 / (8 * ask::sample(current.shape)) as f64;
            Figures::of(current.shape, share)
        });
        Ok(Figures { complete: believed == 1, rebuilding: rebuilding == 1, ..figures })
    }

    async fn begin(&self, token: Token, shape: Shape) -> Result<Beginning, Unusable> {
        let next = Generation::begun(token, shape);
        let ask = |known: &Pointer| {
            let other = known.next.as_ref().map(|next| self.bits(next));
            Ask::begin(self.bits(&next), other, &known.before(&next), shape, [self.keep, self.lease])
        };
        let (_, reply) = self.run(ask).await?;
        Ok(match reply {
            Reply::Number(left) => {
                Beginning::Running(Duration::from_millis(left.try_into().unwrap_or_default()))
            }
            Reply::Bytes(pointer) if !pointer.is_empty() => {
                self.learn(pointer);
                Beginning::Begun
            }
            _ => Beginning::Untold,
        })
    }

    async fn step(&self, token: Token, step: Step<'_>) -> Result<bool, Unusable> {
        let Step::Add(marks) = step else { return self.single(token, step).await };
        for marks in marks.chunks(MOST) {
            if !self.single(token, Step::Add(marks)).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn single(&self, token: Token, step: Step<'_>) -> Result<bool, Unusable> {
        let is_ours = |bitmap: &&Generation| bitmap.token == token;
        let ask = |known: &Pointer| match known.next.as_ref().filter(is_ours) {
            Some(next) => self.ask(known, next, step),
            None => Ask::pointer(),
        };
        let (known, reply) = self.run(ask).await?;
        let Some(next) = known.next.as_ref().filter(is_ours) else {
            // An answer to an earlier attempt was lost.
            let done = known.current.as_ref().is_some_and(|current| is_ours(&current));
            return Ok(matches!(step, Step::Switch) && done);
        };
        let done = reply.number() == Some(1);
        if done && matches!(step, Step::Switch) {
            self.learn(Pointer::to(next).into());
        }
        Ok(done)
    }

    fn ask(&self, known: &Pointer, next: &Generation, step: Step<'_>) -> Ask {
        let bits = self.bits(next);
        match step {
            Step::Add(marks) => Ask::add([(bits, next)].into_iter(), marks, Duration::ZERO),
            Step::Hold => Ask::hold(bits, self.lease),
            Step::Switch => {
                Ask::switch(bits, known.current.as_ref().map(|old| self.bits(old)), next, self.keep)
            }
        }
    }

    /// Asks what `ask` makes of the pointer, until that is the present one.
    async fn run(&self, ask: impl Fn(&Pointer) -> Ask) -> Result<(Arc<Pointer>, Reply), Unusable> {
        let redis = &self.remote.redis;
        let until = redis.budget(Road::Usual);
        for _ in 0..ATTEMPTS {
            let known = self.known.lock().clone();
            let Ask { script, keys, arguments } = ask(&known);
            let keys: Vec<String> = [self.pointer()].into_iter().chain(keys).collect();
            let arguments: Vec<&[u8]> =
                [&*known.text].into_iter().chain(arguments.iter().map(Vec::as_slice)).collect();
            let request = Request::Run { script, keys: &keys, arguments: &arguments };
            match other(redis.call(request, Road::Usual, until).await?) {
                Ok(pointer) => self.learn(pointer),
                Err(reply) => return Ok((known, reply)),
            }
        }
        Err(Unusable::NotDone)
    }

    fn learn(&self, pointer: Bytes) {
        *self.known.lock() = Arc::new(Pointer::of(pointer));
    }

    /// The life that the keys are to have from now on; nothing while what they have is long enough.
    fn life(&self) -> Duration {
        let due = self.prolonged.lock().map(|at| at.after(self.keep / SHARE));
        if due.is_none_or(|due| due <= self.clock.now()) { self.keep } else { Duration::ZERO }
    }

    fn note_life(&self, life: Duration) {
        if !life.is_zero() {
            *self.prolonged.lock() = Some(self.clock.now());
        }
    }

    fn pointer(&self) -> String {
        self.keys.filter(&self.name)
    }

    fn bits(&self, bitmap: &Generation) -> String {
        self.keys.filter_bits(&self.name, number(bitmap.token))
    }
}

/// The pointer, where that is another than the caller knows.
fn other(reply: Reply) -> Result<Bytes, Reply> {
    match reply {
        Reply::List(mut parts) if parts.len() == 1 => parts.remove(0).into_bytes().ok_or(Reply::Nothing),
        reply => Err(reply),
    }
}

fn sight(byte: u8) -> Seen {
    match byte {
        b'0' => Seen::No,
        b'1' => Seen::Maybe,
        _ => Seen::Incomplete,
    }
}

impl Backend for RedisBackend {
    fn redis(&self) -> Option<&Redis> {
        Some(&self.remote.redis)
    }

    fn check<'a>(&'a self, marks: &'a [Mark]) -> Told<'a, Vec<Seen>> {
        self.check(marks).boxed()
    }

    fn add<'a>(&'a self, marks: &'a [Mark]) -> Told<'a, ()> {
        self.add(marks).boxed()
    }

    fn look(&self) -> Told<'_, Figures> {
        self.look().boxed()
    }

    fn begin(&self, token: Token, shape: Shape) -> Told<'_, Beginning> {
        self.begin(token, shape).boxed()
    }

    fn step<'a>(&'a self, token: Token, step: Step<'a>) -> Told<'a, bool> {
        self.step(token, step).boxed()
    }

    fn abandon(&self, token: Token) {
        let keys = vec![self.pointer(), self.keys.filter_bits(&self.name, number(token))];
        let arguments = vec![format!("{token} ").into()];
        let redis = self.remote.redis.clone();
        Takeback { redis, script: &ABANDON, keys, arguments, road: Road::Usual }.begin();
    }
}
