//! A hit in process memory allocates nothing and reads no clock but the coarse one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    alloc::System,
    convert::Infallible,
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use forebay::{
    Builder, Forebay,
    cache::{Load, Refresh},
    clock::{Clock, TimeSource},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A clock that stands still, and panics when it is read while that is forbidden.
#[derive(Default)]
struct Forbidding(AtomicBool);

impl TimeSource for Forbidding {
    fn now(&self) -> Duration {
        assert!(!self.0.load(SeqCst), "the precise clock was read");
        Duration::from_secs(1)
    }

    fn sleep(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::pending())
    }
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a hit never waits"),
    }
}

async fn number(load: Load<u64>) -> Result<u64, Infallible> {
    Ok(load.id().len() as u64)
}

// The only test of this program: another would allocate beside it.
#[tokio::test(flavor = "current_thread")]
async fn a_hundred_thousand_hits_allocate_nothing_and_read_no_precise_clock() {
    let time = Arc::new(Forbidding::default());
    let clock = Clock::from_source(time.clone());
    clock.tick();
    hit(Forebay::builder("hits").memory().clock(clock.clone()), &time).await;
    hit(Forebay::builder("hits").memory().clock(clock).heavy_hitters(), &time).await;
}

async fn hit(builder: Builder, time: &Forbidding) {
    let forebay = builder.build().await.unwrap();
    let builder = forebay.cache::<u64>("numbers", Duration::from_secs(60));
    // As much as a hit can have to do.
    let builder =
        builder.refresh(Refresh::Ahead(0.2)).adaptive(Duration::from_secs(30), Duration::from_secs(90));
    let cache = builder.build().unwrap();
    // More than are told apart at a time.
    let ids: Vec<String> = (0..1_000).map(|n| format!("p-{n:04}-straße")).collect();
    for id in &ids {
        cache.get_or_load(id, number).await.unwrap();
    }
    // So often that each of them has been in a sample.
    let before = 200_000;
    for id in ids.iter().cycle().take(before) {
        at_once(cache.get_or_load(id, number)).unwrap();
    }

    time.0.store(true, SeqCst);
    let region = Region::new(ALLOCATOR);
    for id in ids.iter().cycle().take(100_000) {
        assert_eq!(*at_once(cache.get_or_load(id, number)).unwrap(), id.len() as u64);
    }
    let change = region.change();
    time.0.store(false, SeqCst);

    assert_eq!((change.allocations, change.reallocations), (0, 0), "{change:?}");
    assert_eq!(cache.stats().memory_hits, before as u64 + 100_000);
}
