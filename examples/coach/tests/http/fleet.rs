//! Three instances over one Redis, taken in turn.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use forebay_rig::Redis;
use nix::sys::signal::Signal;
use reqwest::Method;
use serde_json::json;
use tokio::{join, time::sleep};

use crate::{
    answer::Answer,
    program::{Coach, Model, Start, at_once, soon, statuses},
    records::{CARRIED_OUT, Records},
};

/// How many instances there are.
const SIZE: usize = 3;

const CHARGES: &str = "SELECT count(*) FROM charge";

/// The instances, in the order in which calls go to them.
pub(crate) struct Fleet {
    coaches: Mutex<Vec<Arc<Coach>>>,
    turn: AtomicUsize,
}

impl Fleet {
    pub(crate) fn start(start: &Start<'_>) -> Self {
        let coaches = (0..SIZE).map(|_| Arc::new(start.run())).collect();
        Self { coaches: Mutex::new(coaches), turn: AtomicUsize::new(0) }
    }

    /// The next one.
    pub(crate) fn next(&self) -> Arc<Coach> {
        self.coaches.lock().unwrap()[self.turn.fetch_add(1, Relaxed) % SIZE].clone()
    }

    /// Kills the first one.
    pub(crate) fn kill(&self) {
        self.coaches.lock().unwrap()[0].process.signal(Signal::SIGKILL);
    }

    /// Puts a new one in the place of the first.
    pub(crate) fn replace(&self, start: &Start<'_>) {
        let coach = Arc::new(start.run());
        self.coaches.lock().unwrap()[0] = coach;
    }
}

#[tokio::test]
async fn three_instances_ask_the_model_once() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(500));
    let fleet = Fleet::start(&Start::over(&redis, &records, &model));
    let answers = at_once(60, async |_| fleet.next().ask("runner-7", "How fast?").await).await;
    assert!(statuses(&answers).iter().all(|status| *status == 200), "{:?}", statuses(&answers));
    assert_eq!(model.calls().await, 1);
}

#[tokio::test]
async fn what_one_model_has_said_is_not_given_for_what_another_says() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    for name in ["one", "another"] {
        let coach = Start::over(&redis, &records, &model).flags(&["--model-name", name]).run();
        assert_eq!(coach.ask("runner-7", "How fast?").await.text("source"), "model");
        assert!(coach.process.ends().await);
    }
    assert_eq!(model.calls().await, 2);
}

#[tokio::test]
async fn a_change_is_seen_by_the_next_request_on_every_instance() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let fleet = Fleet::start(&Start::over(&redis, &records, &model));
    for vo2max in (40..60).map(|whole| f64::from(whole) + 0.5) {
        let changed = fleet.next().profile("runner-7", vo2max).await;
        assert_eq!(changed.body["everywhere"], true, "{changed:?}");
        let told = format!("VO2max of {vo2max} ");
        for _ in 0..SIZE {
            let answer = fleet.next().ask("runner-7", "How fast?").await;
            assert!(answer.text("answer").contains(&told), "{told} in {answer:?}");
        }
    }
    // Each profile was asked about once.
    assert_eq!(model.calls().await, 20);
}

#[tokio::test]
async fn a_payment_whose_instance_is_killed_is_charged_once_and_known_to_the_others() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let fleet = Fleet::start(&Start::over(&redis, &records, &model));
    let kill = async {
        while records.count(CHARGES).await == 0 {
            sleep(Duration::from_millis(2)).await;
        }
        fleet.kill();
    };
    let first = fleet.next();
    let (answer, ()) = join!(first.try_pay("runner-7", "k", "7", 1200), kill);
    // On a machine that stands still it may have been quicker.
    let told = answer.ok();
    let paid = soon(paid(&fleet)).await;
    assert!(told.is_none_or(|told| told.body == paid.body));
    assert_eq!(records.count(CHARGES).await, 1);
    // By the one that was killed, and by another in its place.
    assert!(records.count(CARRIED_OUT).await <= 2);
}

/// The answer to a payment that is sent until it is known.
async fn paid(fleet: &Fleet) -> Answer {
    loop {
        match fleet.next().try_pay("runner-7", "k", "7", 1200).await {
            Ok(answer) if answer.status == 201 => return answer,
            Ok(answer) => assert_eq!(answer.status, 409, "{answer:?}"),
            // To the instance that is not there any more.
            Err(_) => {}
        }
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_restart_loses_nothing() {
    let (redis, records, model) = (Redis::start(), Records::none(), Model::taking(1));
    let start = Start::over(&redis, &records, &model);
    let coach = start.run();
    let (asked, paid) = (coach.ask("runner-7", "How fast?").await, coach.pay("runner-7", "k").await);
    coach.code("ada@example.org").await;
    assert!(coach.process.ends().await);

    let coach = start.run();
    let (again, replayed) = (coach.ask("runner-7", "How fast?").await, coach.pay("runner-7", "k").await);
    assert_eq!((again.text("source"), again.text("answer")), ("store", asked.text("answer")));
    assert_eq!((replayed.is_replayed(), replayed.body), (true, paid.body));
    assert_eq!(coach.code("ada@example.org").await.status, 429);
    assert_eq!(coach.figures("/analytics/uv/today").await["visitors"], 2);
    assert_eq!(model.calls().await, 1);
}

#[tokio::test]
async fn an_instance_that_is_to_end_does_not_wait_for_the_model() {
    let (records, model) = (Records::none(), Model::taking(600_000));
    let coach = Start::alone(&records, &model).run();
    let wish = json!({ "goal": "10 km in 45 minutes" });
    let plan = Answer::to(coach.call(Method::POST, "/generate-plan", "runner-7", &wish));
    let end = async {
        while model.calls().await == 0 {
            sleep(Duration::from_millis(10)).await;
        }
        coach.process.ends().await
    };
    let (answer, ended) = join!(plan, end);
    // Had it waited for the model, the answer would be about that.
    assert!(!answer.is_ok_and(|answer| answer.text("detail").contains("model")));
    assert!(ended);
}
