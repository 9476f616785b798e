//! One message in the hands of a consumer.

use std::{ops::Deref, sync::Arc};

use super::{
    Letter,
    backend::{Settled, Verdict},
    desk::{Desk, Open},
};
use crate::error::Error;

/// A reason is kept up to so many characters.
const LONGEST: usize = 500;

/// A message that was delivered, to be [acknowledged](Delivery::ack) or [returned](Delivery::nack).
///
/// One that is dropped is returned. One of a process that dies is delivered again once the visibility is over.
#[derive(Debug)]
#[must_use = "a delivery that is dropped is delivered again"]
pub struct Delivery {
    letter: Letter,
    /// Nothing once it is settled.
    open: Option<Open>,
}

/// What became of a message that was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    /// It is delivered again, after a while.
    Again,
    /// It was put aside, as it was delivered often enough.
    Dead,
    /// It was no longer this consumer's, or is no longer kept.
    Gone,
}

impl Delivery {
    pub(super) fn of(letter: Letter, desk: &Arc<Desk>) -> Self {
        Self { letter, open: Some(Open::at(desk)) }
    }

    /// Says that it is done. Returns whether the message was still this consumer's: otherwise it was
    /// settled before, or is no longer kept.
    ///
    /// # Errors
    ///
    /// The store cannot be asked. It is told as soon as it can, for at most an hour and at most 10,000 of them at a
    /// time; if this process ends before, the message is delivered again.
    pub async fn ack(mut self) -> Result<bool, Error> {
        let Some(open) = self.open.take() else { return Ok(false) };
        Ok(open.0.settle(&self.letter, Verdict::Done).await? == Settled::Yes)
    }

    /// Says that it could not be done, and why. It is delivered again after a while, or put aside with the
    /// first 500 characters of the reason.
    ///
    /// # Errors
    ///
    /// The store cannot be asked. The message is delivered again once the visibility is over.
    pub async fn nack(mut self, reason: &str) -> Result<Returned, Error> {
        let Some(open) = self.open.take() else { return Ok(Returned::Gone) };
        returned(&open, &self.letter, reason).await
    }

    /// Takes the whole visibility anew, from now on. Returns whether the message was still this consumer's.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    pub async fn renew(&self) -> Result<bool, Error> {
        let Some(open) = &self.open else { return Ok(false) };
        Ok(open.0.settle(&self.letter, Verdict::Renewed).await? == Settled::Yes)
    }

    /// Completes after a third of the visibility.
    pub(super) async fn third(&self) {
        if let Some(Open(desk)) = &self.open {
            desk.clock().sleep(desk.seat.options.visibility / 3).await;
        }
    }

    /// Gives it back as one that nobody has looked at.
    pub(super) fn put_back(mut self) {
        if let Some(open) = self.open.take() {
            let letter = self.letter.clone();
            open.0.tasks().clone().spawn(async move {
                // If that cannot be said, it is delivered again once the visibility is over.
                open.0.settle(&letter, Verdict::Unseen).await.ok();
            });
        }
    }
}

async fn returned(open: &Open, letter: &Letter, reason: &str) -> Result<Returned, Error> {
    let reason: String = reason.chars().take(LONGEST).collect();
    let verdict = Verdict::Failed { pause: open.0.pause(letter.attempts), reason: &reason };
    Ok(match open.0.settle(letter, verdict).await? {
        Settled::Yes => Returned::Again,
        Settled::Dead => Returned::Dead,
        Settled::Gone | Settled::Lost => Returned::Gone,
    })
}

impl Deref for Delivery {
    type Target = Letter;

    fn deref(&self) -> &Letter {
        &self.letter
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            let letter = self.letter.clone();
            open.0.tasks().clone().spawn(async move {
                returned(&open, &letter, "it was dropped").await.ok();
            });
        }
    }
}
