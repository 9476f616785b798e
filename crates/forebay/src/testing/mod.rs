//! For tests of services over Redis: a proxy that puts faults between a program and its Redis.

mod connection;
mod frame;
mod inlet;
mod lane;
mod outlet;
mod proxy;

pub use self::{lane::Flow, proxy::Proxy};
