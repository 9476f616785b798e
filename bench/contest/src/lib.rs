//! What a row asks of its contestants: the traits, and the keys, values and origin that they share.

mod article;
mod check;
mod lock;
mod names;
mod origin;
mod shared;
mod step;

use std::{
    any::Any,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures::future::BoxFuture;
use serde_bytes::ByteArray;

pub use self::{
    article::Article,
    check::{Check, Window, Windows, subjects},
    lock::{HELD, Holding, Lock, Uncontended},
    names::{KNOWN, claimed_twice, known_products, payment, products, visitor},
    origin::Origin,
    shared::Shared,
    step::{BRIEF, Step},
};

/// How many bytes a value has.
pub const PAYLOAD: usize = 256;

/// How long every contestant's entries live: longer than any run.
pub const LIFE: Duration = Duration::from_secs(3600);

/// A value.
pub type Payload = ByteArray<PAYLOAD>;

/// A value, different for every `number`.
pub fn payload(number: usize) -> Payload {
    let mut bytes = [0; PAYLOAD];
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    Payload::new(bytes)
}

/// The first `count` keys, like `catalog:p-000123`.
pub fn keys(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("catalog:p-{number:06}")).collect()
}

/// Reads what it has in memory.
pub trait Hit: Sync {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// Reads `keys` in `order`, each of which is there. Panics at a miss.
    fn read_all(&self, keys: &[String], order: &[u32]);
}

/// Holds entries in memory.
pub trait Hold {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// A cache with an entry for each of `keys`.
    fn hold(&self, keys: &[String]) -> Box<dyn Any>;

    /// The same without the level that is weighed, if other levels hold the entries too.
    fn hold_elsewhere(&self, _keys: &[String]) -> Option<Box<dyn Any>> {
        None
    }
}

/// Loads what it does not have.
pub trait Coalesce {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// One caller's read of `key`, which asks `origin` if need be.
    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Arc<Payload>>;
}

/// The output of a future that never waits, for no more than the price of polling it.
///
/// # Panics
///
/// Panics if it waits.
pub fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("what is in memory is answered without waiting"),
    }
}
