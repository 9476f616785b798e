//! "Something changed" between processes: what they tell each other, and how a lost word is found out.

mod account;
mod ledger;
mod message;
mod numbers;

#[expect(unused_imports, reason = "the handle over Redis will use them")]
pub(crate) use self::{
    ledger::{Finding, Heard, Ledger},
    message::{Kind, Message, Tally},
    numbers::Numbers,
};
