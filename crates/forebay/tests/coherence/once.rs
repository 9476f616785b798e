//! Two processes that are both asked to do something once.

use std::time::Duration;

use forebay::{
    Forebay,
    once::{Begun, Completed, Execution, Idempotency, OnIndeterminate, Record},
    testing::Flow,
};

use crate::rig::{CLOCK, Process, Rig, done, eventually};

const LEASE: Duration = Duration::from_millis(600);

fn payments(forebay: &Forebay, policy: OnIndeterminate) -> Idempotency {
    forebay.idempotency().lease(LEASE).on_indeterminate(policy).build().unwrap()
}

async fn begin(payments: &Idempotency) -> Begun {
    payments.begin("order", "12 EUR").await.unwrap()
}

/// Asks until somebody else runs no more.
async fn after_the_lease(payments: &Idempotency) -> Begun {
    loop {
        match begin(payments).await {
            Begun::Running { .. } => CLOCK.sleep(Duration::from_millis(5)).await,
            other => return other,
        }
    }
}

fn run(begun: Begun) -> Execution {
    match begun {
        Begun::Run(execution) => execution,
        other => panic!("{other:?}"),
    }
}

fn hold(process: &Process, flow: Flow) {
    process.proxy.requests(flow);
    process.proxy.replies(flow);
}

// I5: two first requests at a time both run.
#[tokio::test]
async fn of_two_processes_one_runs_and_the_other_is_told_what_it_brings() {
    let rig = Rig::new();
    let [one, other] = rig.open().await;
    let [one, other] = [&one, &other].map(|process| payments(&process.forebay, OnIndeterminate::Refuse));
    let asked = (0..100).map(|n| begin(if n % 2 == 0 { &one } else { &other }));
    let mut begun = futures::future::join_all(asked).await;
    begun.retain(|begun| !matches!(begun, Begun::Running { .. }));
    assert_eq!(begun.len(), 1);
    let waiting = [&one, &other].map(|payments| payments.begin_within("order", "12 EUR", LEASE * 10));
    let completing = async {
        CLOCK.sleep(LEASE * 2).await;
        run(begun.remove(0)).complete(Record::new("paid")).await.unwrap()
    };
    let (completed, told) = futures::future::join(completing, futures::future::join_all(waiting)).await;
    assert_eq!(completed, Completed::Stored);
    for told in told {
        let Begun::Done(record) = told.unwrap() else { panic!("it is done") };
        assert_eq!(&record.bytes()[..], b"paid");
    }
}

// I1, I6: a process that is cut off past its lease knows it before the next one runs, and its end counts no more.
#[tokio::test]
async fn who_is_cut_off_past_its_lease_is_told_before_the_next_runs_and_overwrites_nothing() {
    let rig = Rig::new();
    let [first, second] = rig.open().await;
    let ours = payments(&first.forebay, OnIndeterminate::Rerun);
    let theirs = payments(&second.forebay, OnIndeterminate::Rerun);
    for renewed in [false, true] {
        let execution = run(begin(&ours).await);
        if renewed {
            CLOCK.sleep(LEASE * 2).await;
        }
        hold(&first, Flow::Hold);
        let next = run(done(after_the_lease(&theirs)).await);
        assert!(execution.is_lost(), "the next one runs, and the first has not been told");
        hold(&first, Flow::Pass);
        eventually(|| first.status().usable).await;
        assert_eq!(done(execution.complete(Record::new("first"))).await.unwrap(), Completed::Lost);
        assert_eq!(done(next.complete(Record::new("second"))).await.unwrap(), Completed::Stored);
        let Begun::Done(record) = begin(&ours).await else { panic!("it is done") };
        assert_eq!(&record.bytes()[..], b"second");
        rig.redis.call(&["DEL", "idem:rig:{order}"]);
    }
}

// L2: the renewal that stops after a reconnection.
#[tokio::test]
async fn who_is_back_before_the_next_asks_holds_its_name_still() {
    let rig = Rig::new();
    let [first, second] = rig.open().await;
    let ours = payments(&first.forebay, OnIndeterminate::Rerun);
    let theirs = payments(&second.forebay, OnIndeterminate::Rerun);
    let execution = run(begin(&ours).await);
    first.proxy.cut();
    let until = CLOCK.now().after(LEASE * 4);
    while CLOCK.now() < until {
        assert!(matches!(begin(&theirs).await, Begun::Running { .. }));
        CLOCK.sleep(Duration::from_millis(20)).await;
    }
    assert!(!execution.is_lost());
    hold(&first, Flow::Hold);
    done(execution.lost()).await;
    CLOCK.sleep(LEASE).await;
    hold(&first, Flow::Pass);
    eventually(|| first.status().usable).await;
    // Its renewal comes before anybody has asked.
    let began = CLOCK.now();
    while !matches!(begin(&payments(&second.forebay, OnIndeterminate::Refuse)).await, Begun::Running { .. }) {
        assert!(CLOCK.now().since(began) < LEASE * 10, "it is not renewed any more");
        CLOCK.sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(execution.complete(Record::new("paid")).await.unwrap(), Completed::Stored);
}

#[tokio::test]
async fn what_a_process_leaves_open_another_may_close() {
    let rig = Rig::new();
    let [first, second] = rig.open().await;
    let ours = payments(&first.forebay, OnIndeterminate::Refuse);
    let theirs = payments(&second.forebay, OnIndeterminate::Refuse);
    let token = run(begin(&ours).await).into_token();
    first.forebay.shutdown(LEASE).await;
    drop(first);
    assert!(matches!(done(after_the_lease(&theirs)).await, Begun::Indeterminate));
    assert_eq!(theirs.complete("order", token, Record::new("paid")).await.unwrap(), Completed::Stored);
    assert!(matches!(begin(&theirs).await, Begun::Done(_)));
}
