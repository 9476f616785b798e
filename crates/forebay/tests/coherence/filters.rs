//! One filter for several processes: whatever one of them adds or rebuilds, nobody denies what was added.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    Error,
    cache::Cache,
    filter::{Answer, Filter, Rebuilt},
    testing::Flow,
};
use futures::future::join_all;
use tokio::task::JoinHandle;

use crate::rig::{CLOCK, Process, Rig, done, eventually};

fn filter(process: &Process) -> Filter {
    let builder = process.forebay.filter("known", 100_000, 1e-6);
    builder.visible_within(Duration::ZERO).build().unwrap()
}

// B3: fifty nodes that initialise at once, of which some fail as "the configuration has changed".
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_processes_that_begin_at_once_one_fills_it() {
    let rig = Rig::new();
    let opening = (0..50).map(|_| rig.open_with(|builder| builder));
    let processes: Vec<Process> = join_all(opening).await;
    let fills = Arc::new(AtomicUsize::new(0));
    let tasks = processes.iter().map(|process| {
        let (known, fills) = (filter(process), fills.clone());
        tokio::spawn(async move {
            let source = async |fresh: &forebay::filter::Rebuild| {
                fills.fetch_add(1, SeqCst);
                CLOCK.sleep(Duration::from_secs(1)).await;
                fresh.add_all(["a"]).await
            };
            known.rebuild(source).await
        })
    });
    let told: Vec<Rebuilt> = join_all(tasks).await.into_iter().map(|told| told.unwrap().unwrap()).collect();
    let complete = told.iter().filter(|told| **told == Rebuilt::Complete).count();
    assert_eq!((complete, fills.load(SeqCst)), (1, 1), "{told:?}");
    for process in &processes {
        let answers = filter(process).check_all(["a", "b"]).await;
        assert_eq!(answers, [Answer::Maybe, Answer::No]);
    }
}

#[tokio::test]
async fn what_one_process_adds_is_at_once_not_denied_by_another() {
    let rig = Rig::new();
    let processes: [Process; 2] = rig.open().await;
    let [one, other] = [0, 1].map(|n| filter(&processes[n]));
    let _done = one.rebuild(async |_| Ok::<_, Error>(())).await.unwrap();
    for n in 0..100 {
        let id = n.to_string();
        assert_eq!(other.check(&id).await, Answer::No);
        one.add(&id).await.unwrap();
        assert_eq!(other.check(&id).await, Answer::Maybe, "{id}");
    }
}

/// Starts a caller of `cache` who finds `row`.
fn find(cache: &Cache<String>, row: &'static str) -> JoinHandle<Option<Arc<String>>> {
    let cache = cache.clone();
    let finds = async move |_| Ok::<_, Infallible>(Some(row.to_owned()));
    tokio::spawn(async move { cache.find_or_load("a", finds).await.unwrap() })
}

// The answer of the filter is on its way while the id is added, and more callers come.
#[tokio::test]
async fn who_comes_after_an_id_was_added_is_not_served_an_earlier_no() {
    let rig = Rig::new();
    let processes: [Process; 2] = rig.open().await;
    let [known, other] = [0, 1].map(|n| filter(&processes[n]));
    let _done = known.rebuild(async |_| Ok::<_, Error>(())).await.unwrap();
    let cache = processes[0].builder().guarded_by(&known).build().unwrap();
    assert!(known.check("a").await.is_no(), "the script is known from now on");
    for n in 0..20 {
        processes[0].proxy.replies(Flow::Hold);
        let asked = rig.redis.calls("evalsha");
        let early = find(&cache, "too early");
        eventually(|| rig.redis.calls("evalsha") > asked).await;
        other.add("a").await.unwrap();
        let late = find(&cache, "row");
        CLOCK.sleep(Duration::from_millis(10)).await;
        processes[0].proxy.replies(Flow::Pass);
        assert_eq!(done(early).await.unwrap(), None, "in round {n}");
        assert_eq!(done(late).await.unwrap().as_deref().map(String::as_str), Some("row"), "in round {n}");
        cache.invalidate("a").await;
        let _done = known.rebuild(async |_| Ok::<_, Error>(())).await.unwrap();
    }
}

/// What all processes share: the origin, and what was confirmed.
#[derive(Default)]
struct World {
    origin: Mutex<BTreeSet<String>>,
    added: Mutex<Vec<String>>,
    over: AtomicBool,
    denied: AtomicUsize,
}

impl World {
    fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    async fn write(&self, known: &Filter, task: usize) {
        for n in 0.. {
            let id = format!("{task}-{n}");
            // A row that nothing hides is there from the call on.
            self.origin.lock().unwrap().insert(id.clone());
            known.add(&id).await.unwrap();
            self.added.lock().unwrap().push(id);
            if self.is_over() {
                return;
            }
        }
    }

    async fn read(&self, known: &Filter) {
        while !self.is_over() {
            let added: Vec<_> = self.added.lock().unwrap().iter().rev().take(200).cloned().collect();
            let answers = known.check_all(&added).await;
            let denied = added.iter().zip(answers).filter(|(_, answer)| answer.is_no());
            assert_eq!(denied.map(|(id, _)| id).next(), None);
            self.denied.fetch_add(usize::from(known.check("nobody").await.is_no()), SeqCst);
        }
    }

    /// How often it was rebuilt.
    async fn rebuild(&self, known: &Filter) -> usize {
        let mut rebuilt = 0;
        while !self.is_over() {
            let source = async |fresh: &forebay::filter::Rebuild| {
                let origin = self.origin.lock().unwrap().clone();
                fresh.add_all(origin).await
            };
            let told = known.rebuild(source).await.unwrap();
            rebuilt += usize::from(told == Rebuilt::Complete);
        }
        rebuilt
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_nobody_denies_what_was_added_while_others_rebuild() {
    let rig = Rig::new();
    let processes: [Process; 3] = rig.open().await;
    let world = Arc::new(World::default());
    let (mut tasks, mut rebuilds) = (Vec::new(), Vec::new());
    for (n, process) in processes.iter().enumerate() {
        let known = filter(process);
        for task in 0..4 {
            let (world, known) = (world.clone(), known.clone());
            tasks.push(tokio::spawn(async move { world.write(&known, 10 * n + task).await }));
        }
        let (reader, asked) = (world.clone(), known.clone());
        tasks.push(tokio::spawn(async move { reader.read(&asked).await }));
        let world = world.clone();
        rebuilds.push(tokio::spawn(async move { world.rebuild(&known).await }));
    }
    CLOCK.sleep(Duration::from_secs(3)).await;
    world.over.store(true, SeqCst);
    join_all(tasks).await.into_iter().for_each(|task| task.unwrap());
    let rebuilt: usize = join_all(rebuilds).await.into_iter().map(Result::unwrap).sum();
    let (added, denied) = (world.added.lock().unwrap().len(), world.denied.load(SeqCst));
    println!("{added} added, rebuilt {rebuilt} times, {denied} times a no");
    assert!(
        added > 1_000 && rebuilt > 5 && denied > 10,
        "{added} added, rebuilt {rebuilt} times, {denied} times a no"
    );
}
