//! A handler for every message.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::topic::{Durable, Group, Id};
use tokio::sync::Semaphore;

use super::{durable, numbers};
use crate::rig::{Rig, SECOND};

const VISIBILITY: Duration = Duration::from_secs(5);

fn group(topic: &Durable) -> Group {
    topic.group("billing").visibility(VISIBILITY).max_deliveries(3).build().unwrap()
}

async fn publish(topic: &Durable, count: usize) {
    for number in numbers(count) {
        topic.publish(number).await.unwrap();
    }
}

/// Waits until `fact` holds, which needs no time.
async fn soon(rig: &impl Rig, fact: impl Fn() -> bool) {
    for _ in 0..500 {
        if fact() {
            return;
        }
        rig.settle().await;
    }
    panic!("it does not come true");
}

pub(crate) async fn so_many_are_handled_at_a_time_and_each_once(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 100).await;
    let (handled, gate) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Semaphore::new(0)));
    let inside = Arc::new(AtomicUsize::new(0));
    let handler = {
        let (handled, gate, inside) = (handled.clone(), gate.clone(), inside.clone());
        move |letter: forebay::topic::Letter| {
            let (handled, gate, inside) = (handled.clone(), gate.clone(), inside.clone());
            async move {
                inside.fetch_add(1, SeqCst);
                gate.acquire().await.unwrap().forget();
                inside.fetch_sub(1, SeqCst);
                handled.lock().unwrap().push(letter.text().unwrap().parse::<usize>().unwrap());
                Ok::<_, String>(())
            }
        }
    };
    let work = tokio::spawn(group(&topic).consumer("one").for_each(8, handler));
    soon(&rig, || inside.load(SeqCst) == 8).await;
    rig.settle().await;
    assert_eq!(inside.load(SeqCst), 8);
    gate.add_permits(100);
    soon(&rig, || handled.lock().unwrap().len() == 100).await;
    rig.pass(VISIBILITY * 2).await;
    let mut handled = handled.lock().unwrap().clone();
    handled.sort_unstable();
    assert_eq!(handled, (0..100).collect::<Vec<_>>());
    work.abort();
}

pub(crate) async fn a_handler_that_fails_or_panics_is_asked_again(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 3).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let handler = {
        let seen = seen.clone();
        move |letter: forebay::topic::Letter| {
            seen.lock().unwrap().push((letter.text().unwrap().to_owned(), letter.attempts));
            async move {
                match (letter.text().unwrap(), letter.attempts) {
                    ("0", 1) => Err("not today".to_owned()),
                    ("1", 1) => panic!("on purpose"),
                    ("2", _) => Err("never".to_owned()),
                    _ => Ok(()),
                }
            }
        }
    };
    let work = tokio::spawn(group(&topic).consumer("one").for_each(2, handler));
    soon(&rig, || seen.lock().unwrap().len() == 3).await;
    for _ in 0..8 {
        rig.pass(SECOND).await;
    }
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    let expected = [("0", 1), ("0", 2), ("1", 1), ("1", 2), ("2", 1), ("2", 2), ("2", 3)];
    assert_eq!(seen, expected.map(|(text, attempts)| (text.to_owned(), attempts)));
    let dead = group(&topic).dead_letters(Id::BEGINNING).await.unwrap();
    assert_eq!((dead.len(), dead[0].letter.text(), &*dead[0].reason), (1, Some("2"), "never"));
    work.abort();
}

pub(crate) async fn a_handler_keeps_its_message_for_as_long_as_it_runs(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 1).await;
    let (gate, calls) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let works: Vec<_> = ["one", "other"]
        .map(|name| {
            let (gate, calls) = (gate.clone(), calls.clone());
            let handler = move |_| {
                let (gate, calls) = (gate.clone(), calls.clone());
                async move {
                    calls.fetch_add(1, SeqCst);
                    gate.acquire().await.unwrap().forget();
                    Ok::<_, String>(())
                }
            };
            tokio::spawn(group(&topic).consumer(name).for_each(1, handler))
        })
        .into();
    soon(&rig, || calls.load(SeqCst) == 1).await;
    for _ in 0..12 {
        rig.pass(VISIBILITY / 4).await;
    }
    assert_eq!(calls.load(SeqCst), 1);
    gate.add_permits(1);
    rig.settle().await;
    rig.pass(VISIBILITY * 2).await;
    assert_eq!(calls.load(SeqCst), 1);
    works.iter().for_each(tokio::task::JoinHandle::abort);
}

pub(crate) async fn a_shutdown_waits_for_what_is_being_handled(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 2).await;
    let (gate, calls) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let handler = {
        let (gate, calls) = (gate.clone(), calls.clone());
        move |_| {
            let (gate, calls) = (gate.clone(), calls.clone());
            async move {
                calls.fetch_add(1, SeqCst);
                gate.acquire().await.unwrap().forget();
                Ok::<_, String>(())
            }
        }
    };
    let work = tokio::spawn(group(&topic).consumer("one").for_each(1, handler));
    soon(&rig, || calls.load(SeqCst) == 1).await;
    let shutting_down = {
        let forebay = rig.forebay().clone();
        tokio::spawn(async move { forebay.shutdown(SECOND * 10).await })
    };
    rig.settle().await;
    assert!(!work.is_finished());
    gate.add_permits(2);
    work.await.unwrap();
    assert!(shutting_down.await.unwrap());
    assert_eq!(calls.load(SeqCst), 1, "nothing new is begun");
}
