//! Stamps every case for Redis.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use forebay_rig::{Redis, ServerClock};

use crate::{
    clocked::{Clocked, ClockedRig, Clocks},
    rig::{Rig, fill, held},
    server::{Running, ServerRig, Servers},
};

impl Servers for Redis {
    const MOMENT: Duration = Duration::from_micros(200);

    fn start() -> Self {
        Self::start()
    }

    fn url(&self) -> String {
        self.url()
    }

    fn nodes(&self) -> &[Self] {
        std::slice::from_ref(self)
    }

    fn running() -> &'static Running<Self> {
        static RUNNING: Running<Redis> = Running::new(Weak::new());
        &RUNNING
    }
}

impl Clocks for Redis {
    fn with_clock() -> (Self, ServerClock) {
        Self::with_clock()
    }

    fn clocked() -> &'static Running<Clocked<Self>> {
        static RUNNING: Running<Clocked<Redis>> = Running::new(Weak::new());
        &RUNNING
    }
}

pub(crate) type RedisRig = ServerRig<Redis>;
pub(crate) type ClockedRedisRig = ClockedRig<Redis>;

crate::cases::stamp!(crate::redis::RedisRig);
crate::cases::filter::stamp!(crate::redis::RedisRig);
crate::cases::limiter::stamp!(crate::redis::ClockedRedisRig);
crate::cases::once::stamp!(crate::redis::ClockedRedisRig);
crate::cases::unique::stamp!(crate::redis::ClockedRedisRig);
crate::cases::lock::stamp!(crate::redis::RedisRig);
crate::stored::stamp!(crate::redis::ClockedRedisRig);

#[tokio::test]
async fn a_server_is_told_the_scripts_that_it_does_not_know() {
    let rig = RedisRig::over(Arc::new(Redis::start())).await;
    let cache = rig.builder("case").local_time_to_live(Duration::ZERO).build().unwrap();
    fill(&cache, "a", "A").await;
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}
