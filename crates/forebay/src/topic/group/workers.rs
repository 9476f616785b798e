//! A handler for every message, several at a time.

use std::{fmt, future::Future, panic::AssertUnwindSafe, pin::pin};

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::{Consumer, Delivery, Letter};

pub(super) async fn run<E, F, Fut>(mut consumer: Consumer, concurrency: usize, handler: F)
where
    F: Fn(Letter) -> Fut,
    Fut: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    let concurrency = concurrency.max(1);
    let (mut running, mut is_over) = (FuturesUnordered::new(), false);
    loop {
        let free = concurrency - running.len();
        tokio::select! {
            Some(()) = running.next() => {}
            some = consumer.next_many(free), if free > 0 && !is_over => {
                is_over = some.is_empty();
                running.extend(some.into_iter().map(|delivery| handle(delivery, &handler)));
            }
            else => return,
        }
    }
}

/// Has one message handled, and keeps it meanwhile.
async fn handle<E, F, Fut>(delivery: Delivery, handler: &F)
where
    F: Fn(Letter) -> Fut,
    Fut: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    let letter = delivery.clone();
    let work = async move { handler(letter).await };
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    let done = loop {
        tokio::select! {
            biased;
            done = &mut work => break done,
            () = delivery.third() => {
                // If it cannot be kept, it is delivered again: at least once.
                delivery.renew().await.ok();
            }
        }
    };
    // What cannot be said is told later, or the message is delivered again.
    match done {
        Ok(Ok(())) => drop(delivery.ack().await),
        Ok(Err(error)) => drop(delivery.nack(&error.to_string()).await),
        Err(_) => drop(delivery.nack("the handler panicked").await),
    }
}
