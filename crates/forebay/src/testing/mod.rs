//! Faults for tests of services: a proxy before Redis, or a memory store that can be out of reach.

mod connection;
mod frame;
mod inlet;
mod lane;
mod outlet;
mod proxy;

pub use self::{lane::Flow, proxy::Proxy};
#[doc(inline)]
pub use crate::cache::{Fault, Faults};
