//! Redis is optional while running: what callers notice of every way in which it fails. Real servers, real time.

mod askers;
mod callers;
mod deferred;
mod filters;
mod journal;
mod large;
mod limit_calls;
mod limits;
mod loads;
mod lock_holders;
mod lock_keys;
mod lock_replicas;
mod lock_tokens;
mod locks;
mod lookups;
mod network;
mod once;
mod reconnects;
mod refusals;
mod replays;
mod server;
mod shutdown;
mod stage;
mod tags;
mod timing;
mod visitors;
