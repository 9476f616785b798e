//! Every task of a `Forebay` is started here, so that shutting down can wait for all of them, then end them.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use tokio::runtime::Handle;
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker, task_tracker::TaskTrackerToken},
};

use crate::{
    clock::Clock,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

/// The tasks of one `Forebay`; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Tasks {
    runtime: Handle,
    running: TaskTracker,
    stopping: CancellationToken,
    waning: CancellationToken,
    ended: CancellationToken,
    sought: Arc<Sought>,
}

/// What a shutdown looks for.
#[derive(Default)]
struct Sought {
    /// As `stopping` says it, but without a lock.
    is_stopping: AtomicBool,
    /// What is to become tasks before a shutdown waits for those.
    summons: Mutex<Vec<Summon>>,
}

type Summon = Box<dyn Fn(&Tasks) + Send + Sync>;

impl Tasks {
    /// Starts tasks on `runtime`, whichever runtime the caller of [`Tasks::spawn`] is on.
    pub(crate) fn on(runtime: Handle) -> Self {
        Self {
            runtime,
            running: TaskTracker::new(),
            stopping: CancellationToken::new(),
            waning: CancellationToken::new(),
            ended: CancellationToken::new(),
            sought: Arc::default(),
        }
    }

    /// Tasks on the same runtime, which are shut down by themselves.
    pub(crate) fn apart(&self) -> Self {
        Self::on(self.runtime.clone())
    }

    /// Starts `work`, which runs to its end whoever waits for it.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let ended = self.ended.clone();
        self.running.spawn_on(
            async move {
                tokio::select! {
                    biased;
                    () = work => {}
                    () = ended.cancelled() => {}
                }
            },
            &self.runtime,
        );
    }

    /// Starts `work`, which is aborted when the handle is dropped.
    pub(crate) fn spawn_owned<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> AbortOnDropHandle<T> {
        AbortOnDropHandle::new(self.running.spawn_on(work, &self.runtime))
    }

    /// Counts as a task until it is dropped.
    pub(crate) fn token(&self) -> TaskTrackerToken {
        self.running.token()
    }

    /// How many have not ended.
    #[cfg(all(test, forebay_shuttle))]
    pub(crate) fn count(&self) -> usize {
        self.running.len()
    }

    /// Whether the caller is on the runtime of the tasks.
    pub(crate) fn is_at_home(&self) -> bool {
        Handle::try_current().is_ok_and(|here| here.id() == self.runtime.id())
    }

    /// Has `summon` start as tasks what is under way without one, when [`Tasks::shut_down`] begins.
    pub(crate) fn at_shutdown(&self, summon: impl Fn(&Self) + Send + Sync + 'static) {
        self.sought.summons.lock().push(Box::new(summon));
    }

    /// Whether [`Tasks::shut_down`] has begun.
    pub(crate) fn is_stopping(&self) -> bool {
        self.sought.is_stopping.load(SeqCst)
    }

    /// Completes when [`Tasks::shut_down`] begins.
    pub(crate) async fn stopping(&self) {
        self.stopping.cancelled().await;
    }

    /// Completes when half of a shutdown's budget is over: what was waited for until then is to be left as it is.
    pub(crate) async fn waning(&self) {
        self.waning.cancelled().await;
    }

    /// Asks the tasks to stop, and waits for none.
    pub(crate) fn stop(&self) {
        self.sought.is_stopping.store(true, SeqCst);
        self.stopping.cancel();
    }

    /// Asks the tasks to stop, waits for them at most `budget`, then ends what still runs.
    ///
    /// Returns whether all of them ended by themselves.
    pub(crate) async fn shut_down(&self, clock: &Clock, budget: Duration) -> bool {
        self.stop();
        self.sought.summons.lock().iter().for_each(|summon| summon(self));
        self.running.close();
        let ends = async {
            if clock.timeout(budget / 2, self.running.wait()).await.is_none() {
                self.waning.cancel();
                self.running.wait().await;
            }
        };
        let all = clock.timeout(budget, ends).await.is_some();
        self.ended.cancel();
        all
    }
}

impl fmt::Debug for Sought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sought").field("is_stopping", &self.is_stopping).finish_non_exhaustive()
    }
}
