//! What every request passes on its way, in this order from the outside:
//!
//! 1. `request_id`: outermost, so that every answer and every line of the log carries the id.
//! 2. `trace`: the request in the log, by its route and never by its path, which holds keys.
//! 3. `figures`: counts every answer as the client gets it, by its route likewise.
//! 4. `problems`: writes the body of every refusal from further in, so it knows the id and sees everything.
//! 5. the policy that browsers run nothing, for all that is no page of the server's.
//! 6. `leftover`: what the answer has left of the body, whoever gave the answer.
//! 7. `catch_panic`: a panic becomes a problem like any other.
//! 8. `deadline`: inside these, so that running out of time is a problem too.
//! 9. `strangers`: in front of the limits, so that nobody's quota is spent by pages of others.
//! 10. `limits`, if `server.limit` names a policy: inside the deadline, which bounds the question to Redis too, and in
//!     front of everything that could be called for free, unknown tokens and paths that do not exist included.
//! 11. `paths`: the last before the routes; nothing further in sees a path that cannot be read.
//!
//! `auth` sits on the routes that need a scope, so that a new route cannot miss it by the spelling of its path.

mod auth;
mod deadline;
mod figures;
mod leftover;
mod limits;
mod panics;
mod paths;
mod problems;
mod request_id;
mod strangers;
mod trace;
mod upload;

pub(crate) use auth::{Tokens, require_data, require_data_or_ops, require_ops, require_read};
pub(crate) use deadline::deadline;
pub(crate) use figures::figures;
pub(crate) use leftover::leftover;
pub(crate) use limits::{callers, in_own_words, limit};
pub(crate) use panics::problem_of_panic;
pub(crate) use paths::paths;
pub(crate) use problems::problems;
pub(crate) use request_id::{RequestId, request_id};
pub(crate) use strangers::strangers;
pub(crate) use trace::span;
