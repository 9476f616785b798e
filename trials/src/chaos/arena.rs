//! The processes, each in its seat before the store, and what is looked at once all is over.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use forebay_rig::ServerClock;
use futures::future::join_all;
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::RwLock,
    task::{JoinSet, spawn_blocking},
    time::{sleep, timeout},
};

use super::{
    BUDGET, FORGETFUL, LEASE, LOAD_TIMEOUT, PROCESSES, WAIT, clients,
    fault::Site,
    ground::Ground,
    history::{History, Left, Process},
    starved::Meter,
    strikes,
    way::Way,
};
use crate::{
    crew::{Worker, program},
    moment::Moment,
    order::{Answer, Load, Order, Report, Setup, Subject},
};

/// How many ids are asked for.
pub(super) const IDS: usize = 32;

/// How long a process may take to be well once nothing is wrong any more.
const RECOVERY: Duration = Duration::from_secs(30);

/// How long a process may take to end, its own bound included.
const CLOSING: Duration = Duration::from_secs(5);

/// By so many tasks a process may have more than when it started: those that end in a moment, and a node's.
const MORE_TASKS: usize = 12;

/// How long a process is taken to be without Redis after a fault that cannot say itself whether it is.
const RECONNECTING: Duration = Duration::from_secs(1);

const STEP: Duration = Duration::from_millis(5);

/// The place of a process, which may be killed and replaced.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) number: usize,
    pub(super) way: Way,
    /// The calendar of its process.
    pub(super) clock: ServerClock,
    setup: Setup,
    place: Mutex<(usize, Arc<Worker>)>,
    tasks: usize,
}

impl Seat {
    /// The number of the process that has it, and the process.
    pub(super) fn worker(&self) -> (usize, Arc<Worker>) {
        lock(&self.place).clone()
    }

    async fn start(program: &[PathBuf], setup: &Setup, clock: &ServerClock) -> (Arc<Worker>, Report) {
        let worker = Worker::under(program, setup, clock.environment()).await;
        let report = worker.report().await;
        (Arc::new(worker), report)
    }
}

/// Whose cache is tried, and the program that has it.
#[derive(Debug, Clone)]
pub struct Players {
    /// Whose cache.
    pub subject: Subject,
    /// The program of a process, with all arguments but the setup.
    pub program: Vec<PathBuf>,
}

impl From<Subject> for Players {
    /// Those subjects that are Rust have the same program.
    fn from(subject: Subject) -> Self {
        Self { subject, program: vec![program()] }
    }
}

/// Where the rows are: in a file, and served.
#[derive(Debug, Clone, Copy)]
struct Rows<'a> {
    file: &'a Path,
    port: u16,
}

/// What all parts of the play share.
#[derive(Debug)]
pub(super) struct Arena {
    ground: Arc<Ground>,
    program: Vec<PathBuf>,
    pub(super) seats: Vec<Seat>,
    pub(super) seed: u64,
    pub(super) began: Moment,
    pub(super) until: Moment,
    /// Among themselves puts are last-arrival-wins: one at a time, and no other change beside it.
    pub(super) changing: Vec<RwLock<()>>,
    history: Mutex<History>,
}

impl Arena {
    async fn open(ground: Arc<Ground>, players: Players, seed: u64, rows: Rows<'_>) -> Self {
        let Players { subject, program } = players;
        let setups = join_all((0..PROCESSES).map(|number| setup(&ground, subject, rows, number))).await;
        let seats = join_all(setups.into_iter().enumerate().map(async |(number, (setup, way))| {
            let clock = ServerClock::running();
            let (worker, report) = Seat::start(&program, &setup, &clock).await;
            let place = Mutex::new((number, worker));
            (Seat { number, way, clock, setup, place, tasks: report.tasks }, report)
        }))
        .await;
        let processes = seats.iter().map(|(seat, report)| process(seat.number, report)).collect();
        let history = Mutex::new(History { processes, ..History::default() });
        let seats = seats.into_iter().map(|(seat, _)| seat).collect();
        let changing = (0..IDS).map(|_| RwLock::new(())).collect();
        let began = Moment::now();
        Self { ground, program, seats, seed, began, until: began, changing, history }
    }

    pub(super) fn site(&self) -> Site {
        self.ground.site()
    }

    /// Does to the servers what takes its time, beside everything else.
    pub(super) async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Ground) -> T + Send + 'static,
    ) -> T {
        let ground = self.ground.clone();
        spawn_blocking(move || work(&ground)).await.expect("it does not panic")
    }

    pub(super) fn is_over(&self) -> bool {
        Moment::now() >= self.until
    }

    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }

    /// Kills the process of a seat, and starts another in its place.
    pub(super) async fn replace(&self, seat: &Seat) {
        let (number, worker) = seat.worker();
        self.collect(number, &worker).await;
        worker.kill();
        let died = Moment::now();
        self.history().processes[number].died = Some(died);
        let (worker, report) = Seat::start(&self.program, &seat.setup, &seat.clock).await;
        let mut history = self.history();
        history.processes.push(process(seat.number, &report));
        *lock(&seat.place) = (history.processes.len() - 1, worker);
    }

    /// Waits until the process of a seat uses Redis, hears the others and has no change to be confirmed.
    pub(super) async fn is_well(&self, seat: &Seat) -> Moment {
        if seat.setup.subject != Subject::Forebay {
            sleep(RECONNECTING).await;
        }
        let (began, mut last) = (Moment::now(), String::from("no report"));
        while Moment::now().since(began) < RECOVERY {
            let ((number, worker), asked) = (seat.worker(), Moment::now());
            if let Ok(Some(Answer::Report(report))) = timeout(RECOVERY, worker.ask(Order::Report)).await {
                if report.deferred == 0 {
                    self.history().settled.push((number, asked));
                }
                if report.usable && report.hears && report.deferred == 0 {
                    return Moment::now();
                }
                last = format!("{report:?}");
            }
            sleep(STEP).await;
        }
        self.history().left.push(Left::Unwell(format!("process {} for {RECOVERY:?}: {last}", seat.number)));
        Moment::now()
    }

    /// Takes note of the loads of a process, and of the keys that would stay for ever.
    async fn collect(&self, number: usize, worker: &Worker) {
        if let Ok(Some(Answer::Loads(loads))) = timeout(BUDGET, worker.ask(Order::Loads)).await {
            self.history().loads.extend(loads.into_iter().map(|load| (number, load)));
        }
    }

    pub(super) async fn look_for_keys(&self) {
        let keys = self.apart(Ground::keys_without_expiry).await;
        let mut history = self.history();
        history.looks += 1;
        history.left.extend(keys.into_iter().map(Left::ForEver));
    }

    /// Looks whether everything comes to rest.
    async fn end(&self) {
        self.apart(Ground::settle).await;
        for seat in &self.seats {
            self.is_well(seat).await;
        }
        let bounds = self.history().processes.iter().map(|process| process.bound).max();
        sleep(bounds.unwrap_or_default() * 2).await;
        clients::read_all(self).await;
        self.look_for_keys().await;
        for seat in &self.seats {
            self.rests(seat).await;
        }
        join_all(self.seats.iter().map(|seat| self.ends(seat))).await;
    }

    async fn rests(&self, seat: &Seat) {
        let ((number, worker), began, mut tasks) = (seat.worker(), Moment::now(), usize::MAX);
        while tasks > seat.tasks + MORE_TASKS && Moment::now().since(began) < RECOVERY {
            sleep(STEP).await;
            tasks = worker.report().await.tasks;
        }
        if tasks > seat.tasks + MORE_TASKS {
            let what = format!("process {number} had {} tasks, and has {tasks}", seat.tasks);
            self.history().left.push(Left::Tasks(what));
        }
        self.collect(number, &worker).await;
    }

    async fn ends(&self, seat: &Seat) {
        let (number, worker) = seat.worker();
        let what = match worker.finish(CLOSING).await {
            Some(status) if status.success() => return,
            Some(status) => format!("process {number} ended with {status}"),
            None => format!("process {number} has not ended within {CLOSING:?}"),
        };
        self.history().left.push(Left::Running(what));
    }
}

async fn setup(ground: &Ground, subject: Subject, rows: Rows<'_>, number: usize) -> (Setup, Way) {
    let ms = |span: Duration| Some(span.as_millis().try_into().expect("it is short"));
    let way = ground.way().await;
    let setup = Setup {
        subject,
        redis: way.url.clone(),
        budget_ms: ms(BUDGET),
        lease_ms: ms(LEASE),
        load_timeout_ms: ms(LOAD_TIMEOUT),
        wait_ms: ms(WAIT),
        // So long that what is old in a memory is seen to be, and so short that lives end.
        fresh_ms: Some(10_000),
        stale_ms: 20_000,
        local_ms: (number == FORGETFUL).then_some(0),
        tags: true,
        database: Some(rows.file.to_owned()),
        rows: Some(rows.port),
        ..Setup::default()
    };
    (setup, way)
}

fn process(seat: usize, report: &Report) -> Process {
    let passing = Duration::from_millis(report.bound_ms);
    let bound = if seat == FORGETFUL { Duration::ZERO } else { passing };
    Process { seat, bound, passing, died: None }
}

/// Plays for so long, and until every kind of fault has happened. Returns everything that was seen.
///
/// # Panics
///
/// If a process does not start, or a server or SQLite do not answer.
pub async fn play(ground: Ground, players: Players, length: Duration, seed: u64) -> History {
    let folder = TempDir::new().expect("a folder can be created");
    let database = folder.path().join("rows");
    // Of several who open a new file at once, some find it locked.
    let things = crate::rows::open_things(&database).await.expect("a new file can be opened");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let rows = Rows { file: &database, port: listener.local_addr().expect("it listens").port() };
    let mut serving = JoinSet::new();
    serving.spawn(crate::rows::serve(listener, things));
    let mut arena = Arena::open(Arc::new(ground), players, seed, rows).await;
    arena.until = arena.began.after(length);
    let meter = Meter::start();
    tokio::join!(clients::play(&arena), strikes::play(&arena));
    arena.end().await;
    let mut history = arena.history.into_inner().unwrap_or_else(PoisonError::into_inner);
    history.starved = meter.stop();
    history.loads = whole(history.loads);
    history
}

/// A load that still ran when it was told of is told of again once it has ended.
fn whole(mut loads: Vec<(usize, Load)>) -> Vec<(usize, Load)> {
    let key = |(process, load): &(usize, Load)| (load.id.clone(), load.began, *process);
    loads.sort_by_key(|one| (key(one), one.1.ended.is_none()));
    loads.dedup_by(|one, other| key(one) == key(other));
    loads
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
