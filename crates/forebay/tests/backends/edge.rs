//! Batches whose ids come to the end of their lives while they are under way.

use std::{convert::Infallible, time::Duration};

use forebay::{
    Forebay,
    cache::{Load, Loaded, Refresh},
    clock::Clock,
};

const LIFE: Duration = Duration::from_millis(50);

/// More turns than a batch has steps.
const TURNS: u64 = 40;

// cachified #144, C29: a batch never ended when one of its keys went from stale to expired on the way.
#[tokio::test]
async fn ten_thousand_batches_at_the_end_of_their_lives_answer_each_id() {
    let (clock, time) = Clock::manual();
    let forebay = Forebay::builder("edge").memory().clock(clock).build().await.unwrap();
    let load = async |(), loads: Vec<Load<u64>>| {
        Ok::<_, Infallible>(loads.iter().map(|load| (load.id().to_owned(), 1)).collect::<Vec<_>>())
    };
    let builder = forebay.cache::<u64>("case", LIFE).jitter(0.0).stale_for(LIFE).refresh(Refresh::Stale);
    let cache = builder.local_time_to_live(Duration::ZERO).batch_loader((), load).build().unwrap();
    let (mut old, mut new) = (0, 0);
    for run in 0..10_000 {
        for id in ["a", "b"] {
            cache.put(id, Loaded::new(0)).await.unwrap();
        }
        time.advance(Duration::from_millis(1));
        cache.put("c", Loaded::new(0)).await.unwrap();
        time.advance(2 * LIFE - Duration::from_millis(2));
        let batch = tokio::spawn({
            let cache = cache.clone();
            async move { cache.get_many(["a", "b", "c", "d"]).await }
        });
        for turn in 0..TURNS {
            if turn == run % TURNS || turn == run / TURNS % TURNS {
                time.advance(Duration::from_millis(1));
            }
            tokio::task::yield_now().await;
        }
        assert!(batch.is_finished(), "run {run}");
        for (id, answer) in batch.await.unwrap() {
            match *answer.unwrap().unwrap() {
                0 if id != "d" => old += 1,
                _ => new += 1,
            }
        }
        cache.invalidate("d").await;
    }
    println!("{old} stale values, {new} loaded");
    // Both sides of the edge were met.
    assert!(old > 1_000 && new > 11_000, "{old} {new}");
}
