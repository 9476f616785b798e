//! Carries the commands of all callers to one connection, those that come together in one write.
//!
//! Without it every command is a write of its own: whoever sends wakes the task of the connection, which then runs
//! before anybody else does.

#[cfg(test)]
mod tests;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use futures::{StreamExt, stream::FuturesUnordered};
use redis::{Cmd, Pipeline, Value, aio::MultiplexedConnection};
use tokio::{
    sync::{mpsc, oneshot},
    task::yield_now,
};

use super::reply::Trouble;
use crate::tasks::Tasks;

/// The parcels of one tour: of more, the first answers would wait for the last.
const MOST: usize = 128;

/// How many tours may be under way. While a server does not answer, the rest waits here, where it can still be left
/// behind by whoever gives up.
const TOURS: usize = 8;

/// Commands of one caller, which are answered together.
#[derive(Debug)]
struct Parcel {
    commands: Vec<Cmd>,
    answers: oneshot::Sender<Result<Vec<Value>, Trouble>>,
}

/// Takes parcels; cheap to clone. The task ends with the last clone.
#[derive(Debug, Clone)]
pub(super) struct Courier {
    parcels: mpsc::UnboundedSender<Parcel>,
    /// How many callers wait for answers.
    waiting: Arc<AtomicUsize>,
}

impl Courier {
    pub(super) fn start(connection: MultiplexedConnection, tasks: &Tasks) -> Self {
        let (parcels, received) = mpsc::unbounded_channel();
        let waiting = Arc::<AtomicUsize>::default();
        tasks.spawn(carry(connection, received, waiting.clone()));
        Self { parcels, waiting }
    }

    /// Asks, after everybody who has asked before. Errors of the server are among the answers.
    ///
    /// # Errors
    ///
    /// The connection is gone.
    pub(super) async fn ask(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, Trouble> {
        let (answers, answered) = oneshot::channel();
        let _counted = Waiting::enter(&self.waiting);
        self.parcels.send(Parcel { commands, answers }).map_err(|_| Trouble::NotSent)?;
        answered.await.unwrap_or(Err(Trouble::Lost))
    }
}

/// Counts a caller for as long as it waits.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Goes on tours, of which several may be under way, until there is nobody left who could send anything.
async fn carry(
    connection: MultiplexedConnection,
    mut received: mpsc::UnboundedReceiver<Parcel>,
    waiting: Arc<AtomicUsize>,
) {
    let mut tours = FuturesUnordered::new();
    let mut parcels = Vec::new();
    loop {
        tokio::select! {
            biased;
            Some(()) = tours.next() => {}
            came = received.recv_many(&mut parcels, MOST), if tours.len() < TOURS => {
                if came == 0 {
                    break;
                }
                // Whoever is about to send comes along.
                if waiting.load(Relaxed) > came {
                    yield_now().await;
                    while parcels.len() < MOST && let Ok(parcel) = received.try_recv() {
                        parcels.push(parcel);
                    }
                }
                parcels.retain(|parcel| !parcel.answers.is_closed());
                tours.push(tour(connection.clone(), std::mem::take(&mut parcels)));
            }
        }
    }
    // Whoever waits keeps the channel open: nobody misses the answers of the tours that end with this task, and a
    // connection whose answers never come is closed.
}

/// Sends parcels, and hands out the answers.
async fn tour(mut connection: MultiplexedConnection, parcels: Vec<Parcel>) {
    let mut pipeline = Pipeline::new();
    pipeline.ignore_errors();
    let counts: Vec<usize> = parcels.iter().map(|parcel| parcel.commands.len()).collect();
    let mut waiting = Vec::with_capacity(parcels.len());
    for parcel in parcels {
        for command in parcel.commands {
            pipeline.add_command(command);
        }
        waiting.push(parcel.answers);
    }
    if pipeline.is_empty() {
        return;
    }
    match connection.send_packed_commands(&pipeline, 0, pipeline.len()).await {
        Ok(answers) => {
            let mut answers = answers.into_iter();
            for (count, waiting) in counts.into_iter().zip(waiting) {
                let own = answers.by_ref().take(count).collect();
                waiting.send(Ok(own)).ok();
            }
        }
        Err(error) => waiting.into_iter().for_each(|waiting| {
            waiting.send(Err(Trouble::of(&error))).ok();
        }),
    }
}
