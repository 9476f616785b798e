//! What the tests share: a server, requests to it, and what its answers mean.

mod answer;
mod raw;
mod server;
mod stage;

pub(crate) use answer::Answered;
pub(crate) use raw::{RawAnswer, exchange, is_problem};
pub(crate) use server::{Server, run};
pub(crate) use stage::Stage;
