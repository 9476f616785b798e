//! Requests that are carried out once, over real connections.

mod answers;
mod bodies;
mod cancelled;
mod ends;
mod keys;
mod outage;
#[path = "../../backends/polls.rs"]
mod polls;
mod shop;
mod times;
