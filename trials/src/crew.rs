//! Workers in the hands of the process that started them.
//!
//! Whatever goes wrong here fails the trial, so that nothing returns an error: it panics.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use futures::future::join_all;
use nix::{
    sys::signal::{self, Signal},
    unistd::Pid,
};
use tokio::sync::oneshot;

use crate::{
    hold::{Held, Hold, Lapped, Laps},
    moment::Moment,
    order::{Answer, Call, Load, Numbered, Order, Report, Setup},
};

const PATIENCE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(5);

/// The program of the workers, beside the running one or, for a test, in the folder above it.
///
/// # Panics
///
/// If it was not built.
pub fn program() -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join("forebay-trial-worker"));
    beside.into_iter().find(|path| path.is_file()).expect("the worker lies beside this program")
}

/// Starts so many workers, and says who they are.
///
/// # Panics
///
/// If one of them does not get ready.
pub async fn start(count: usize, setup: &Setup) -> Vec<Worker> {
    let program = program();
    let crew = join_all((0..count).map(|_| Worker::start(&program, setup))).await;
    println!("processes {:?} on {}", crew.iter().map(Worker::pid).collect::<Vec<_>>(), setup.redis);
    crew
}

/// A worker: a process of its own, killed when this is dropped or the process ends.
#[derive(Debug)]
pub struct Worker {
    child: Mutex<Child>,
    /// `None` once there are no more orders.
    orders: Mutex<Option<ChildStdin>>,
    pending: Arc<Pending>,
    numbers: AtomicU64,
    pid: u32,
}

/// Who waits for which answer; `None` once the worker says no more.
type Pending = Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>;

impl Worker {
    /// Starts a worker and waits until it uses its Redis and hears the others.
    ///
    /// # Panics
    ///
    /// If it does not get so far.
    pub async fn start(program: &Path, setup: &Setup) -> Self {
        Self::under(&[program.to_owned()], setup, []).await
    }

    /// Starts a worker as [`start`](Self::start) does, by a program with its arguments, of which the setup is the last,
    /// and with something more in its environment.
    ///
    /// # Panics
    ///
    /// If it does not get ready.
    pub async fn under(
        program: &[PathBuf],
        setup: &Setup,
        environment: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        let (program, arguments) = program.split_first().expect("a program has a name");
        let setup = serde_json::to_string(setup).expect("a setup is JSON");
        let mut command = forebay_rig::dying(program.to_str().expect("the path of the worker is text"));
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("FOREBAY_"))
        {
            command.env_remove(name);
        }
        command.envs(environment);
        command.args(arguments).arg(setup).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = forebay_rig::spawn(command).expect("the worker starts");
        let (answer, ready) = oneshot::channel();
        let pending = Arc::new(Mutex::new(Some(HashMap::from([(0, answer)]))));
        let answers = child.stdout.take().expect("the output is piped");
        let told = pending.clone();
        thread::spawn(move || listen(answers, &told));
        let orders = Mutex::new(Some(child.stdin.take().expect("the input is piped")));
        let pid = child.id();
        ready.await.expect("the worker gets ready");
        Self { child: Mutex::new(child), orders, pending, numbers: AtomicU64::new(1), pid }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Has an order carried out beside those that run; `None` if the worker ends before it answers.
    ///
    /// # Panics
    ///
    /// If an order is no JSON.
    pub async fn ask(&self, order: Order) -> Option<Answer> {
        let (answer, answered) = oneshot::channel();
        let number = self.numbers.fetch_add(1, Relaxed);
        lock(&self.pending).as_mut()?.insert(number, answer);
        let mut line = serde_json::to_vec(&Numbered { number, what: order }).expect("an order is JSON");
        line.push(b'\n');
        // If the worker has ended, nobody answers.
        lock(&self.orders).as_mut()?.write_all(&line).ok();
        answered.await.ok()
    }

    /// Has the cache called.
    ///
    /// # Panics
    ///
    /// If the worker ends before it answers.
    pub async fn calls(&self, order: Order) -> Vec<Call> {
        match self.ask(order).await {
            Some(Answer::Done(calls)) => calls,
            other => panic!("worker {} answers {other:?}", self.pid),
        }
    }

    /// Has the cache called once.
    ///
    /// # Panics
    ///
    /// If the worker ends before it answers.
    pub async fn call(&self, order: Order) -> Call {
        self.calls(order).await.pop().expect("one call was ordered")
    }

    /// Raises the version of a row.
    ///
    /// # Panics
    ///
    /// If the worker ends before it answers.
    pub async fn raise(&self, id: &str) -> u64 {
        match self.ask(Order::Raise(id.to_owned())).await {
            Some(Answer::Raised(version)) => version,
            other => panic!("worker {} answers {other:?}", self.pid),
        }
    }

    /// Asks which loads began since the last time, and how those went on that still ran then.
    ///
    /// # Panics
    ///
    /// If the worker ends before it answers.
    pub async fn loads(&self) -> Vec<Load> {
        match self.ask(Order::Loads).await {
            Some(Answer::Loads(loads)) => loads,
            other => panic!("worker {} answers {other:?}", self.pid),
        }
    }

    /// Has somebody want a lock; `None` if the worker ends before it answers.
    ///
    /// # Panics
    ///
    /// If it answers something else.
    pub async fn hold(&self, order: Hold) -> Option<Held> {
        match self.ask(Order::Hold(order)).await? {
            Answer::Held(held) => Some(held),
            other => panic!("worker {} answers {other:?}", self.pid),
        }
    }

    /// Has a lock taken and freed again and again.
    ///
    /// # Panics
    ///
    /// If the worker ends before it answers.
    pub async fn laps(&self, order: Laps) -> Lapped {
        match self.ask(Order::Laps(order)).await {
            Some(Answer::Lapped(lapped)) => lapped,
            other => panic!("worker {} answers {other:?}", self.pid),
        }
    }

    /// Asks how the worker is.
    ///
    /// # Panics
    ///
    /// If the worker ends before it answers.
    pub async fn report(&self) -> Report {
        match self.ask(Order::Report).await {
            Some(Answer::Report(report)) => *report,
            other => panic!("worker {} answers {other:?}", self.pid),
        }
    }

    /// Waits until the worker uses Redis, hears the others and has no change to be confirmed.
    ///
    /// # Panics
    ///
    /// If that takes more than half a minute, or the worker ends.
    pub async fn is_well(&self) {
        let began = Moment::now();
        loop {
            let report = self.report().await;
            if report.usable && report.hears && report.deferred == 0 {
                return;
            }
            let waited = Moment::now().since(began);
            assert!(waited < PATIENCE, "worker {} is not well after {waited:?}: {report:?}", self.pid);
            tokio::time::sleep(STEP).await;
        }
    }

    /// Stops the worker in its steps: it keeps its connections, and does nothing.
    ///
    /// # Panics
    ///
    /// If the operating system refuses.
    pub fn stop(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets a stopped worker go on.
    ///
    /// # Panics
    ///
    /// If the operating system refuses.
    pub fn go_on(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Gives no more orders, and waits for the worker to end by itself; `None` if it has not within `patience`.
    ///
    /// # Panics
    ///
    /// If the operating system does not tell how the child is.
    pub async fn finish(&self, patience: Duration) -> Option<ExitStatus> {
        lock(&self.orders).take();
        let began = Moment::now();
        while Moment::now().since(began) < patience {
            let ended = lock(&self.child).try_wait().expect("a child can be waited for");
            if ended.is_some() {
                return ended;
            }
            tokio::time::sleep(STEP).await;
        }
        None
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).expect("process ids are small");
        signal::kill(Pid::from_raw(pid), signal).expect("a child can be signalled");
    }

    /// The resident memory in KiB.
    ///
    /// # Panics
    ///
    /// If the worker has ended.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("the worker lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        memory.expect("a living process has memory")
    }

    /// Kills the worker in its steps.
    ///
    /// # Panics
    ///
    /// If the operating system refuses.
    pub fn kill(&self) {
        let mut child = lock(&self.child);
        child.kill().expect("a child can be killed");
        child.wait().expect("a child can be waited for");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn listen(answers: ChildStdout, pending: &Pending) {
    for line in BufReader::new(answers).lines().map_while(Result::ok) {
        // The last line of a worker that was killed may be half a one.
        let Ok(Numbered { number, what }) = serde_json::from_str(&line) else { break };
        let waiting = lock(pending).as_mut().and_then(|pending| pending.remove(&number));
        if let Some(waiting) = waiting {
            // Who asked may have gone.
            waiting.send(what).ok();
        }
    }
    lock(pending).take();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
