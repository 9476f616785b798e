//! How a flight gets the lease: it asks the store, waits while somebody else has it, and goes without where it must.

use std::time::Duration;

use super::{
    backend::{Leased, Reject, Request, Stored, Unavailable},
    breaker::Breaker,
    current::begin_with,
    error::Failure,
    grant::Grant,
    leader::{Found, Goal, Leader},
    load::Alone,
    queue::{Queue, Turn},
    token::Token,
    verdict::{Answer, Outcome},
};

/// What the store says to a request for the lease.
enum Asked {
    Entry(Stored),
    /// One of this process alone.
    LocalEntry(Stored),
    Granted(Grant),
    Busy(Duration),
    Failed(Duration),
    Unshared,
}

impl<V: Send + Sync + 'static> Leader<V> {
    pub(super) async fn acquire(&mut self, mut reject: Reject) -> Outcome<V> {
        self.flight.helm.left_by_pilot().await;
        if let Some(retry_after) = self.refused() {
            return self.fail(Failure::Elsewhere(retry_after)).await;
        }
        let inner = self.inner.clone();
        let mut queue = Queue::new(&inner, &self.id.key);
        let mut waited = false;
        loop {
            let sent = inner.flights.depart();
            match self.ask(reject, queue.is_listening(), waited).await {
                Err(Unavailable) => return self.unasked_for().await,
                Ok(Asked::Entry(stored)) => match self.judge(stored).await {
                    Ok(Found::Usable(answer)) => return Outcome::Read { answer, sent, waited },
                    // The store has it for fresh: asked again in the same way, it would say so again.
                    Ok(Found::Stale(stale)) => reject = Reject::Entry(stale.id),
                    Ok(Found::Unusable(why)) => reject = why,
                    Err(Unavailable) => return self.unasked_for().await,
                },
                Ok(Asked::LocalEntry(stored)) => match self.open(&stored) {
                    Ok(opened) if !inner.numbers.have_passed(&opened.stamp) => {
                        return Outcome::Read { answer: opened.answer, sent, waited };
                    }
                    Ok(opened) => reject = Reject::Entry(opened.id),
                    Err(why) => reject = why,
                },
                Ok(Asked::Granted(grant)) => return self.granted(grant).await,
                Ok(Asked::Failed(left)) => return self.fail(Failure::Elsewhere(left)).await,
                Ok(Asked::Unshared) => return self.unshared().await,
                Ok(Asked::Busy(left)) => {
                    if let Some(outcome) = self.busy() {
                        return outcome;
                    }
                    waited = true;
                    self.budget = inner.backend.budget();
                    match queue.turn(left).await {
                        Turn::Again => {}
                        Turn::Over => return self.give_up().await,
                        Turn::Stopping => return Outcome::Failed(Failure::Overloaded),
                    }
                }
            }
        }
    }

    /// The store cannot be asked for the lease. A value that is still fresh is loaded again another time; else what
    /// memory had, a read has answered for: it is no last resort any more.
    async fn unasked_for(&mut self) -> Outcome<V> {
        match self.on_offer().filter(|_| !self.ahead.is_zero()) {
            Some(held) => held,
            None => self.load_alone(Alone::Locally).await,
        }
    }

    /// The end of the flight with the value on offer. That serves only those who came before it was read, however much
    /// later the store was asked for the lease.
    fn on_offer(&self) -> Option<Outcome<V>> {
        let (held, sent) = self.flight.offered()?;
        Some(Outcome::Read { answer: Answer::Present(held), sent, waited: false })
    }

    /// Asks for the lease once. Whoever goes away before the answer gives it back; one that is not answered
    /// is for the store to take back.
    async fn ask(&mut self, reject: Reject, listening: bool, again: bool) -> Result<Asked, Unavailable> {
        let (inner, request) = (self.inner.clone(), self.request(reject, listening));
        let mut grant = inner.grant(self.id.key.clone(), request.token, request.life);
        let stale = self.flight.stale().map(|stale| stale.stamp);
        let (mut spent, highest) = (self.budget, inner.numbers.highest());
        let begin = inner.begin(stale.as_ref(), &mut spent);
        let lease = inner.backend.lease(&self.id.key, request, &mut self.budget);
        let (begun, asked) = begin_with(begin, lease, again).await;
        let leased = asked.inspect_err(|_| grant.keep())?;
        if !matches!(leased, Leased::Granted { .. }) {
            grant.keep();
        }
        Ok(match leased {
            Leased::Granted { stale_is_kept } => {
                let begun = begun?;
                if !stale_is_kept || !begun.base_is_current {
                    self.flight.withdraw();
                }
                grant.begin_at(begun.number);
                Asked::Granted(grant)
            }
            Leased::GrantedLocally => {
                let (key, token) = (self.id.key.clone(), grant.token().local().with_number(highest));
                Asked::Granted(inner.grant(key, token, grant.life()))
            }
            Leased::Entry(stored) => Asked::Entry(stored),
            Leased::LocalEntry(stored) => Asked::LocalEntry(stored),
            Leased::Busy(left) => Asked::Busy(left),
            Leased::Failed(left) => Asked::Failed(left),
            Leased::Unshared => Asked::Unshared,
        })
    }

    /// When the origin's breaker lets a load go ahead again, if it is open.
    fn refused(&self) -> Option<Duration> {
        self.inner.breaker.as_ref()?.opens_in()
    }

    fn request(&self, reject: Reject, listening: bool) -> Request {
        let life = match self.goal {
            Some(Goal::Lease(life)) => life,
            _ => self.inner.options.lease,
        };
        let stale = self.flight.stale().map(|stale| stale.id);
        let token = Token::roll(&self.inner.shared.context.dice);
        let (ahead, local_will_do) = (self.ahead, !self.loads() && self.ahead.is_zero());
        Request { token, life, reject, stale, ahead, listening, local_will_do }
    }

    async fn granted(&mut self, grant: Grant) -> Outcome<V> {
        if self.loads() {
            return self.load_under(grant).await;
        }
        match self.inner.breaker.as_ref().map(Breaker::admit) {
            Some(Err(retry_after)) => self.fail(Failure::Elsewhere(retry_after)).await,
            _ => Outcome::Leased(Some(grant)),
        }
    }

    async fn unshared(&mut self) -> Outcome<V> {
        match self.loads() {
            // Nobody would get what it loads.
            true if self.behind => Outcome::Nothing,
            true => self.load_alone(Alone::Nowhere).await,
            false => Outcome::Unshared,
        }
    }

    /// What a flight does that finds another load under way; `None` to wait for it.
    fn busy(&mut self) -> Option<Outcome<V>> {
        if self.behind {
            return Some(Outcome::Nothing);
        }
        let on_offer = self.on_offer().filter(|_| self.inner.options.refresh.serves_stale());
        if on_offer.is_some() {
            return on_offer;
        }
        self.flight.may_take_long();
        if let Some(goal) = &mut self.goal {
            goal.stand_aside();
        }
        None
    }

    /// The wait is over: a load that waited runs once, stored nowhere; who wanted the lease goes without.
    async fn give_up(&mut self) -> Outcome<V> {
        if self.loads() { self.load_alone(Alone::Nowhere).await } else { Outcome::Nothing }
    }
}
