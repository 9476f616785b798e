//! Carries the commands of all callers to one connection, those that come together in one write.
//!
//! Without it every command is a write of its own: whoever sends wakes the task of the connection, which then runs
//! before anybody else does.

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use futures::{StreamExt, stream::FuturesUnordered};
use redis::{Cmd, Pipeline, Value, aio::MultiplexedConnection};
use tokio::{
    sync::{mpsc, oneshot},
    task::yield_now,
};

use super::reply::Trouble;
use crate::tasks::Tasks;

/// The parcels of one tour, whose answers come together: of values as large as they are here, so many arrive well within
/// a budget.
const MOST: usize = 32;

/// How many tours may be under way. While a server does not answer, the rest waits here, where it can still be left
/// behind by whoever gives up.
const TOURS: usize = 32;

/// Commands of one caller, which are answered together.
#[derive(Debug)]
struct Parcel {
    commands: Vec<Cmd>,
    answers: oneshot::Sender<Result<Vec<Value>, Trouble>>,
    aboard: Aboard,
}

/// Takes parcels; cheap to clone. The task ends with the last clone.
#[derive(Clone)]
pub(super) struct Courier {
    connection: MultiplexedConnection,
    parcels: mpsc::UnboundedSender<Parcel>,
    traffic: Arc<Traffic>,
}

/// What there is to carry.
#[derive(Debug, Default)]
struct Traffic {
    /// How many callers wait for answers.
    waiting: AtomicUsize,
    /// How many parcels were not answered yet, whether or not anybody still waits.
    aboard: AtomicUsize,
    /// Whether more than one parcel went on the last tour.
    dense: AtomicBool,
}

impl Traffic {
    /// Whether there is nobody to share a write with, nor about to be, nor anything that must be sent before.
    fn is_none(&self) -> bool {
        !self.dense.load(Relaxed) && self.aboard.load(SeqCst) == 0
    }
}

/// Counts a parcel until it is answered, or not sent as nobody waits for it.
#[derive(Debug)]
struct Aboard(Arc<Traffic>);

impl Aboard {
    fn enter(traffic: &Arc<Traffic>) -> Self {
        traffic.aboard.fetch_add(1, SeqCst);
        Self(traffic.clone())
    }
}

impl Drop for Aboard {
    fn drop(&mut self) {
        self.0.aboard.fetch_sub(1, SeqCst);
    }
}

impl Courier {
    pub(super) fn start(connection: MultiplexedConnection, tasks: &Tasks) -> Self {
        let (parcels, received) = mpsc::unbounded_channel();
        let traffic = Arc::<Traffic>::default();
        tasks.spawn(carry(connection.clone(), received, traffic.clone()));
        Self { connection, parcels, traffic }
    }

    /// Asks, after everybody who has asked before. Errors of the server are among the answers.
    ///
    /// # Errors
    ///
    /// The connection is gone.
    pub(super) async fn ask(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, Trouble> {
        let counted = Waiting::enter(&self.traffic.waiting);
        if counted.is_alone() && self.traffic.is_none() {
            // Apart, it makes the calls that share a write no larger.
            return Box::pin(send(self.connection.clone(), commands)).await;
        }
        let (answers, answered) = oneshot::channel();
        let parcel = Parcel { commands, answers, aboard: Aboard::enter(&self.traffic) };
        self.parcels.send(parcel).map_err(|_| Trouble::NotSent)?;
        answered.await.unwrap_or(Err(Trouble::Lost))
    }
}

impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Courier").field("traffic", &self.traffic).finish_non_exhaustive()
    }
}

/// Counts a caller for as long as it waits.
struct Waiting<'a> {
    count: &'a AtomicUsize,
    others: usize,
}

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        Self { count, others: count.fetch_add(1, Relaxed) }
    }

    fn is_alone(&self) -> bool {
        self.others == 0
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Relaxed);
    }
}

/// Goes on tours, of which several may be under way, until there is nobody left who could send anything.
async fn carry(
    connection: MultiplexedConnection,
    mut received: mpsc::UnboundedReceiver<Parcel>,
    traffic: Arc<Traffic>,
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
                if traffic.waiting.load(Relaxed) > came {
                    yield_now().await;
                    while parcels.len() < MOST && let Ok(parcel) = received.try_recv() {
                        parcels.push(parcel);
                    }
                }
                parcels.retain(|parcel| !parcel.answers.is_closed());
                traffic.dense.store(parcels.len() > 1, Relaxed);
                tours.push(tour(connection.clone(), std::mem::take(&mut parcels)));
            }
        }
    }
    // Whoever waits keeps the channel open: nobody misses the answers of the tours that end with this task, and a
    // connection whose answers never come is closed.
}

/// Sends parcels, and hands out the answers.
async fn tour(connection: MultiplexedConnection, parcels: Vec<Parcel>) {
    let (mut commands, mut waiting) = (Vec::with_capacity(parcels.len()), Vec::with_capacity(parcels.len()));
    for parcel in parcels {
        waiting.push((parcel.commands.len(), parcel.answers, parcel.aboard));
        commands.extend(parcel.commands);
    }
    if commands.is_empty() {
        return;
    }
    let mut answers = send(connection, commands).await.map(Vec::into_iter);
    for (count, waiting, _aboard) in waiting {
        let own = answers.as_mut().map(|answers| answers.take(count).collect());
        waiting.send(own.map_err(|trouble| trouble.clone())).ok();
    }
}

async fn send(mut connection: MultiplexedConnection, commands: Vec<Cmd>) -> Result<Vec<Value>, Trouble> {
    let mut pipeline = Pipeline::with_capacity(commands.len());
    pipeline.ignore_errors();
    for command in commands {
        pipeline.add_command(command);
    }
    let sent = connection.send_packed_commands(&pipeline, 0, pipeline.len()).await;
    sent.map_err(|error| Trouble::of(&error))
}
