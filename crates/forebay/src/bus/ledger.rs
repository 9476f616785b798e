//! The hearing side of the count: finds out that something was not heard.

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::{
    bus::{
        account::{Account, SILENT},
        message::{Message, Tally},
    },
    clock::Moment,
    hash::Seed,
};

/// How many publishers are counted at a time.
const PUBLISHERS: usize = 10_000;

/// What is known of all publishers of the channel, this process's own among them.
///
/// A lost change of a publisher that has been heard is found within 1.5 s of its answer, if beats are made
/// every 500 ms (at most 100 ms late) and nothing travels for more than 400 ms. Two limits: a publisher not
/// one message of which has arrived is unknown, and one is held to be dead after 30 s of silence.
#[derive(Debug)]
pub(crate) struct Ledger {
    own: u64,
    own_heard: Moment,
    deaf: bool,
    accounts: HashMap<u64, Account, Seed>,
    gaps: u64,
    /// Not later than the first moment at which something is overdue.
    due: Moment,
}

/// What a message says about those that did not come.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// None is known to be lost.
    Fine,
    /// Some may be lost.
    Gap,
}

/// What the passing of time says about messages that did not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Some are lost, or a publisher is silent.
    Gap,
    /// Not even the own ones come: whatever is lost from now on, nobody will know.
    Deaf,
}

impl Ledger {
    /// Begins when the subscription of the publisher `own` is confirmed.
    pub(crate) fn new(own: u64, now: Moment) -> Self {
        let due = now.after(SILENT);
        Self { own, own_heard: now, deaf: false, accounts: HashMap::default(), gaps: 0, due }
    }

    /// Takes note of a message.
    pub(crate) fn heard(&mut self, now: Moment, message: &Message<'_>) -> Heard {
        let sound = match message {
            Message::Beat { publisher, .. } if *publisher == self.own => self.own_beat(now),
            Message::Change { publisher, number, .. } if *publisher != self.own => {
                self.change(now, *publisher, *number)
            }
            Message::Beat { publisher, tally, .. } => self.count(now, *publisher, tally, Account::beat),
            Message::Bye { publisher, tally } if *publisher != self.own => {
                self.count(now, *publisher, tally, Account::bye)
            }
            Message::Change { .. } | Message::Bye { .. } => true,
        };
        self.gaps += u64::from(!sound);
        if sound { Heard::Fine } else { Heard::Gap }
    }

    /// The moment at which [`Ledger::check`] wants to be called; every message may bring it forward.
    pub(crate) fn next_check(&self) -> Moment {
        self.due
    }

    /// Says what should have been heard by now.
    pub(crate) fn check(&mut self, now: Moment) -> Option<Finding> {
        if now < self.due {
            return None;
        }
        let gaps =
            self.accounts.values_mut().filter_map(|account| account.overdue(now).then_some(())).count();
        self.gaps += gaps as u64;
        self.accounts.retain(|_, account| !account.is_over(now));
        let deafened = !self.deaf && self.own_heard.after(SILENT) <= now;
        self.deaf |= deafened;
        self.due = self.first_due();
        if deafened { Some(Finding::Deaf) } else { (gaps > 0).then_some(Finding::Gap) }
    }

    /// Whether the own heartbeat is heard.
    #[cfg(test)]
    pub(crate) fn hears(&self) -> bool {
        !self.deaf
    }

    /// How many others are heard.
    pub(crate) fn publishers(&self) -> usize {
        self.accounts.values().filter(|account| !account.has_left()).count()
    }

    /// How many gaps were found.
    pub(crate) fn gaps(&self) -> u64 {
        self.gaps
    }

    /// What came while nobody heard is lost, so hearing again is a gap.
    fn own_beat(&mut self, now: Moment) -> bool {
        self.own_heard = now;
        self.due = self.due.min(now.after(SILENT));
        !std::mem::take(&mut self.deaf)
    }

    fn change(&mut self, now: Moment, publisher: u64, number: u64) -> bool {
        if let Some(account) = self.accounts.get_mut(&publisher) {
            return account.change(number);
        }
        let first = number == 1;
        let account = if first { Account::from_the_first(now) } else { Account::new(now) };
        self.open(publisher, account) && first
    }

    fn count(
        &mut self,
        now: Moment,
        publisher: u64,
        tally: &Tally,
        note: fn(&mut Account, Moment, &Tally) -> bool,
    ) -> bool {
        let known = self.accounts.contains_key(&publisher);
        let room = known || self.open(publisher, Account::new(now));
        let account = self.accounts.get_mut(&publisher).expect("it was there or has just been opened");
        // What it makes due is due no earlier than the silence it ends, so `self.due` stays.
        note(account, now, tally) && room
    }

    /// False if another account had to be closed for it.
    fn open(&mut self, publisher: u64, account: Account) -> bool {
        let full = self.accounts.len() >= PUBLISHERS;
        if full {
            let silent = self.accounts.iter().min_by_key(|(_, account)| account.heard());
            let silent = *silent.expect("a full ledger is not empty").0;
            self.accounts.remove(&silent);
        }
        self.due = self.due.min(account.due());
        self.accounts.insert(publisher, account);
        !full
    }

    fn first_due(&self) -> Moment {
        let own = if self.deaf { Moment::NEVER } else { self.own_heard.after(SILENT) };
        self.accounts.values().map(Account::due).fold(own, Moment::min)
    }
}
