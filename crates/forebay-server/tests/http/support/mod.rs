//! What the tests share: a server, requests to it, and what its answers mean.

mod answer;
mod raw;
mod server;
mod stage;

pub(crate) use answer::Answered;
pub(crate) use raw::{RawAnswer, exchange, exchange_as, is_problem};
pub(crate) use server::{Server, command, run};
pub(crate) use stage::Stage;
