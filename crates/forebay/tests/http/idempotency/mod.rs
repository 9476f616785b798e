//! Requests that are carried out once, over real connections.

mod answers;
mod bodies;
mod ends;
mod keys;
mod outage;
mod shop;
mod times;
