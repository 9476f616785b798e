//! What the tests share: a server, requests to it, and what its answers mean.

mod answer;
mod raw;
mod server;

pub(crate) use answer::Answered;
pub(crate) use raw::{RawAnswer, exchange};
pub(crate) use server::{Server, run};
