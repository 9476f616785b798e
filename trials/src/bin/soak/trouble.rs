//! What goes on beside the clients: loads that outlast their lease and, in a long soak, a Redis that fails.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use forebay_trials::{
    moment::Moment,
    order::{Order, Origin},
};
use futures::future::join_all;
use rand::RngExt;

use crate::{Soak, pause};

/// Against a lease of 5 s.
const LONG_LOAD: Duration = Duration::from_secs(12);
const CALLERS: usize = 100;

/// How long before the end nothing is begun any more.
const LAST: Duration = Duration::from_secs(15);

/// Plays until there is no time for more. Returns what was wrong.
pub(crate) async fn make(soak: &Soak, faults: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for number in 0.. {
        if Moment::now().after(LAST) >= soak.until {
            break;
        }
        wrong.extend(long_load(soak, number).await);
        if !faults {
            break;
        }
        fault(soak).await;
        pause(Duration::from_secs(20)).await;
    }
    wrong
}

/// Has all processes ask for what takes longer to load than a lease lasts.
async fn long_load(soak: &Soak, number: u64) -> Option<String> {
    let id = format!("long-{number}");
    let origin = Origin::Counter { ms: LONG_LOAD.as_millis().try_into().expect("it is short"), bytes: 0 };
    let order = Order::Load { id: id.clone(), callers: CALLERS, origin };
    for calls in join_all(soak.workers.iter().map(|worker| worker.calls(order.clone()))).await {
        soak.counts.calls(&calls);
    }
    for worker in &soak.workers {
        soak.counts.loads(worker).await;
    }
    let loads = soak.counts.take(&id);
    soak.counts.long_loads.fetch_add(loads, Relaxed);
    (loads != 1).then(|| format!("{loads} loads of {id} instead of one"))
}

/// Lets Redis fail and come back in one of several ways, and waits until it is in use again.
async fn fault(soak: &Soak) {
    let _calm = soak.calm.lock().await;
    match rand::rng().random_range(0..3) {
        0 => soak.redis.restart(),
        1 => {
            soak.redis.kill();
            pause(Duration::from_secs(2)).await;
            soak.redis.restart();
        }
        _ => {
            soak.redis.pause();
            pause(Duration::from_secs(2)).await;
            soak.redis.resume();
        }
    }
    soak.counts.faults.fetch_add(1, Relaxed);
    soak.is_well().await;
}
