//! How the loads of several flights become one call: each flight brings its load, and whoever is the last to be waited
//! for makes the call.

use std::{
    any::Any,
    collections::HashMap,
    panic::resume_unwind,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use super::{Answers, Bound};
use crate::{
    cache::{
        bulkhead::{Parent, SharedPermit},
        entry::{Load, Loaded},
        loader::{Blame, Loading, Loads},
    },
    clock::Clock,
    sync::{Mutex, atomic::AtomicBool},
    tasks::Tasks,
};

/// For so long those that are ready wait for the others, whose stores may not answer: as long as a store may take.
pub(super) const LINGER: Duration = Duration::from_millis(500);

/// The loads of one batch, on their way into calls of one loader.
pub(super) struct Gathering<V, E> {
    loader: Bound<V, E>,
    tasks: Tasks,
    clock: Clock,
    state: Mutex<State<V>>,
}

struct State<V> {
    /// How many may still come soon.
    expected: usize,
    ready: Vec<Ready<V>>,
    /// The call that is made next.
    call: Arc<Call>,
}

/// A load that waits for the others.
struct Ready<V> {
    load: Load<V>,
    scope: Option<Parent>,
    answer: oneshot::Sender<Answer<V>>,
}

type Answer<V> = Result<Option<Loaded<V>>, Arc<dyn Any + Send + Sync>>;

/// One call of the loader, which ends when nobody waits for any of its answers.
#[derive(Default)]
struct Call {
    running: OnceLock<AbortOnDropHandle<()>>,
    permit: Arc<SharedPermit>,
    /// Whether its failure was told.
    told: Arc<AtomicBool>,
}

/// The place of one id, until it is known what becomes of its load.
pub(super) struct Place<V: Send + Sync + 'static, E: Send + Sync + 'static> {
    gathering: Arc<Gathering<V, E>>,
    expected: bool,
    blame: Blame,
}

impl<V: Send + Sync + 'static, E: Send + Sync + 'static> Gathering<V, E> {
    /// Gathers the loads of `count` ids.
    pub(super) fn places(loader: Bound<V, E>, tasks: Tasks, clock: Clock, count: usize) -> Vec<Place<V, E>> {
        let state = State { expected: count, ready: Vec::new(), call: Arc::default() };
        let gathering = Arc::new(Self { loader, tasks, clock, state: Mutex::new(state) });
        (0..count)
            .map(|_| Place { gathering: gathering.clone(), expected: true, blame: Blame::to_share() })
            .collect()
    }

    /// Waits no longer for one of the ids.
    fn expect_one_less(&self) {
        let mut state = self.state.lock();
        state.expected -= 1;
        if state.expected == 0 {
            let next = state.next();
            drop(state);
            self.make(next);
        }
    }

    /// Makes `call` although somebody is missing, unless it was made.
    fn wait_no_longer(&self, call: &Arc<Call>) {
        let mut state = self.state.lock();
        if Arc::ptr_eq(&state.call, call) {
            let next = state.next();
            drop(state);
            self.make(next);
        }
    }

    fn make(&self, (call, ready): (Arc<Call>, Vec<Ready<V>>)) {
        let ready: Vec<_> = ready.into_iter().filter(|ready| !ready.answer.is_closed()).collect();
        let Some(scope) = ready.first().map(|first| first.scope) else { return };
        let work = answer_all(self.loader.clone(), ready);
        let running = self.tasks.spawn_owned(async move {
            match scope {
                Some(scope) => scope.scope(work).await,
                None => work.await,
            }
        });
        // A call is made once.
        call.running.set(running).ok();
    }

    async fn join(self: Arc<Self>, load: Load<V>, was_expected: bool, blame: Blame) -> Answer<V> {
        let (answer, mut answered) = oneshot::channel();
        let call = {
            let mut state = self.state.lock();
            state.ready.push(Ready { load, scope: Parent::current(), answer });
            state.call.clone()
        };
        blame.share(call.told.clone());
        match was_expected {
            true => self.expect_one_less(),
            false => self.wait_no_longer_if_complete(&call),
        }
        let answer = tokio::select! {
            biased;
            answer = &mut answered => answer,
            () = self.clock.sleep(LINGER) => {
                self.wait_no_longer(&call);
                answered.await
            }
        };
        // The loader panicked, or its runtime is gone.
        answer.unwrap_or_else(|_| resume_unwind(Box::new("the loader of the batch has panicked")))
    }

    fn wait_no_longer_if_complete(&self, call: &Arc<Call>) {
        if self.state.lock().expected == 0 {
            self.wait_no_longer(call);
        }
    }
}

impl<V> State<V> {
    fn next(&mut self) -> (Arc<Call>, Vec<Ready<V>>) {
        (std::mem::take(&mut self.call), std::mem::take(&mut self.ready))
    }
}

/// Calls the loader, and hands out what it says of each id.
async fn answer_all<V, E: Send + Sync + 'static>(loader: Bound<V, E>, ready: Vec<Ready<V>>) {
    let (mut loads, mut waiting) = (Vec::with_capacity(ready.len()), Vec::with_capacity(ready.len()));
    for Ready { load, answer, .. } in ready {
        waiting.push((load.id.clone(), answer));
        loads.push(load);
    }
    let answers: Result<Answers<V, E>, Arc<dyn Any + Send + Sync>> =
        loader(loads).await.map_err(|error| -> Arc<dyn Any + Send + Sync> { Arc::new(error) });
    let mut answers: Result<HashMap<_, _>, _> = answers.map(|answers| answers.into_iter().collect());
    for (id, waiting) in waiting {
        let own = match &mut answers {
            Ok(answers) => match answers.remove(&*id).map(|part| part.0) {
                Some(Ok(found)) => Ok(found),
                Some(Err(error)) => Err(Arc::new(error) as Arc<dyn Any + Send + Sync>),
                None => Ok(None),
            },
            Err(error) => Err(error.clone()),
        };
        // Whoever has left needs no answer.
        waiting.send(own).ok();
    }
}

impl<V: Send + Sync + 'static, E: Send + Sync + 'static> Loads<V> for Place<V, E> {
    fn load(mut self: Box<Self>, load: Load<V>) -> Loading<V> {
        let was_expected = std::mem::take(&mut self.expected);
        Box::pin(self.gathering.clone().join(load, was_expected, self.blame.clone()))
    }

    fn stand_aside(&mut self) {
        if std::mem::take(&mut self.expected) {
            self.gathering.expect_one_less();
        }
    }

    fn shares(&self) -> Option<Arc<SharedPermit>> {
        Some(self.gathering.state.lock().call.permit.clone())
    }

    fn blame(&self) -> Blame {
        self.blame.clone()
    }
}

impl<V: Send + Sync + 'static, E: Send + Sync + 'static> Drop for Place<V, E> {
    fn drop(&mut self) {
        self.stand_aside();
    }
}
