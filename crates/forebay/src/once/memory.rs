//! The store of one process: the same steps as the scripts', on a clock that never steps back.

use std::time::Duration;

use futures::FutureExt;

use super::{
    backend::{Answer, Backend, Begin, Bid, Complete, Found, Kept, Print, Step, Under},
    record::Record,
};
use crate::{
    clock::{Clock, Moment},
    expiring::{Expiring, Next},
    token::Token,
};

/// The claims and executions of a `Forebay`, by their names.
#[derive(Debug)]
pub(crate) struct MemoryBackend {
    claims: Expiring<Token>,
    executions: Expiring<State>,
    clock: Clock,
}

/// How it stands with one name.
#[derive(Debug)]
struct State {
    print: Print,
    owner: Token,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Running {
        ends: Moment,
        /// Whether somebody ran before of whom nobody knows the end.
        again: bool,
    },
    Done(Record),
}

impl MemoryBackend {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { claims: Expiring::new(clock.clone()), executions: Expiring::new(clock.clone()), clock }
    }

    pub(crate) fn sweep(&self) {
        self.claims.sweep();
        self.executions.sweep();
    }

    fn claim(&self, name: &str, under: Under, life: Duration) -> Bid {
        self.claims.step(name, |held| match held {
            None => (Next::Set(under.token, life), Bid::Claimed(life)),
            Some((owner, left)) if *owner == under.token => (Next::Keep, Bid::Claimed(left)),
            Some((_, left)) => (Next::Keep, Bid::Taken(left)),
        })
    }

    fn unclaim(&self, name: &str, token: Token) -> bool {
        self.claims.step(name, |held| match held {
            Some((owner, _)) if *owner == token => (Next::Clear, true),
            _ => (Next::Keep, false),
        })
    }

    fn begin(&self, name: &str, begin: Begin) -> Found {
        self.executions.step(name, |held| match held {
            None => {
                let stage = Stage::Running { ends: self.clock.now().after(begin.lease), again: false };
                let state = State { print: begin.print, owner: begin.under.token, stage };
                (Next::Set(state, begin.keep), Found::Run(begin.lease.min(begin.keep)))
            }
            Some((state, left)) => (Next::Keep, state.begin(begin, self.clock.now(), left)),
        })
    }

    fn step(&self, name: &str, token: Token, step: Step) -> Option<Duration> {
        self.executions.step(name, |held| match held {
            Some((state, left)) if state.owner == token => match step {
                Step::Renew { lease, .. } => (Next::Keep, state.renew(lease, self.clock.now(), left)),
                Step::GiveUp => state.give_up(),
            },
            _ => (Next::Keep, None),
        })
    }

    fn complete(&self, name: &str, token: Token, complete: Complete<'_>) -> Kept {
        let Complete { record, life, print } = complete;
        self.executions.step(name, |held| match (held, print) {
            (Some((state, _)), _) if state.owner == token => (Next::Keep, state.complete(record)),
            (None, Some(print)) => {
                let state = State { print, owner: token, stage: Stage::Done(record.clone()) };
                (Next::Set(state, life), Kept::Stored)
            }
            _ => (Next::Keep, Kept::Lost),
        })
    }
}

impl State {
    fn begin(&mut self, begin: Begin, now: Moment, left: Duration) -> Found {
        if self.print != begin.print {
            return Found::Mismatch;
        }
        let Stage::Running { ends, again } = &mut self.stage else { return self.done() };
        let is_owner = self.owner == begin.under.token;
        if !is_owner && now < *ends {
            return Found::Running(ends.since(now).min(left));
        }
        if !is_owner && !begin.again {
            return Found::Indeterminate;
        }
        *again |= !is_owner;
        *ends = now.after(begin.lease);
        self.owner = begin.under.token;
        Found::Run(begin.lease.min(left))
    }

    fn done(&self) -> Found {
        match &self.stage {
            Stage::Done(record) => Found::Done(record.clone()),
            Stage::Running { .. } => Found::Indeterminate,
        }
    }

    fn renew(&mut self, life: Duration, now: Moment, left: Duration) -> Option<Duration> {
        let Stage::Running { ends, .. } = &mut self.stage else { return None };
        *ends = now.after(life);
        Some(life.min(left))
    }

    fn complete(&mut self, record: &Record) -> Kept {
        match &self.stage {
            Stage::Done(kept) if kept == record => return Kept::Stored,
            Stage::Done(_) => return Kept::Another,
            Stage::Running { .. } => {}
        }
        self.stage = Stage::Done(record.clone());
        Kept::Stored
    }

    fn give_up(&mut self) -> (Next<Self>, Option<Duration>) {
        match &mut self.stage {
            Stage::Running { again: false, .. } => (Next::Clear, Some(Duration::ZERO)),
            Stage::Running { ends, .. } => {
                *ends = Moment::default();
                (Next::Keep, Some(Duration::ZERO))
            }
            Stage::Done(_) => (Next::Keep, None),
        }
    }
}

impl Backend for MemoryBackend {
    fn claim<'a>(&'a self, name: &'a str, under: Under, life: Duration) -> Answer<'a, Bid> {
        async move { Ok(self.claim(name, under, life)) }.boxed()
    }

    fn unclaim<'a>(&'a self, name: &'a str, token: Token) -> Answer<'a, bool> {
        async move { Ok(self.unclaim(name, token)) }.boxed()
    }

    fn begin<'a>(&'a self, name: &'a str, begin: Begin) -> Answer<'a, Found> {
        async move { Ok(self.begin(name, begin)) }.boxed()
    }

    fn step<'a>(&'a self, name: &'a str, token: Token, step: Step) -> Answer<'a, Option<Duration>> {
        async move { Ok(self.step(name, token, step)) }.boxed()
    }

    fn complete<'a>(&'a self, name: &'a str, token: Token, complete: Complete<'a>) -> Answer<'a, Kept> {
        async move { Ok(self.complete(name, token, complete)) }.boxed()
    }
}
