//! Stamps every case for Redis.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use forebay::cache::{Loaded, Matched, Put};
use forebay_rig::{Redis, ServerClock};

use crate::{
    clocked::{Clocked, ClockedRig, Clocks},
    rig::{LIFE, Rig, at_once, fill, held},
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
crate::cases::topics::stamp!(crate::redis::ClockedRedisRig);
crate::cases::unique::stamp!(crate::redis::ClockedRedisRig);
crate::cases::lock::stamp!(crate::redis::RedisRig);
crate::stored::stamp!(crate::redis::ClockedRedisRig);

// C55: speedgoose #168 and magento2 #41004 keep the lists of what has a tag for ever.
#[tokio::test]
async fn nothing_of_tags_outlives_what_had_them_for_long() {
    let rig = RedisRig::new().await;
    let cache = rig.builder("case").jitter(0.0).build().unwrap();
    for n in 0..500 {
        let loaded = Loaded::new(n.to_string()).tag(format!("only:{n}")).tag("all");
        assert_eq!(cache.put(n.to_string(), loaded).await.unwrap(), Put::Stored);
    }
    cache.invalidate_tag("all").await;
    cache.clear().await;
    let keys = || rig.servers.call(&["KEYS", &format!("*:{}:*", rig.app)]).lines().count();
    // A value, and the number of its own tag.
    assert!(keys() >= 1000, "{}", keys());
    rig.pass(2 * (LIFE + Duration::from_secs(60)) + Duration::from_secs(1)).await;
    assert_eq!(rig.servers.call(&["KEYS", &format!("*:{}:*", rig.app)]), "");
}

#[tokio::test]
async fn a_server_is_told_the_scripts_that_it_does_not_know() {
    let rig = RedisRig::over(Arc::new(Redis::start())).await;
    let cache = rig.builder("case").local_time_to_live(Duration::ZERO).build().unwrap();
    fill(&cache, "a", "A").await;
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

#[tokio::test]
async fn a_pattern_touches_no_key_that_is_not_of_the_space_and_asks_for_no_list_of_all() {
    let rig = RedisRig::over(Arc::new(Redis::start())).await;
    let (cache, app) = (rig.builder("case").version(5).build().unwrap(), &rig.app);
    let set = |key: &str| rig.servers.call(&["SET", key, "x", "PX", "60000"]);
    let own = [format!("cache:{app}:case:v4:{{a}}"), format!("cache:{app}:case:v6:{{b}}")];
    let others = [
        format!("cache:{app}:case:v3:{{c}}"),
        format!("cache:{app}:case:v5:d"),
        format!("cache:{app}:case:v5:{{e}}x"),
        format!("cache:{app}:case:vx:{{f}}"),
        format!("cache:{app}:case:v5:v5:{{g}}"),
        format!("cache:{app}x:case:v5:{{h}}"),
        format!("once:{app}:case:v5:{{i}}"),
    ];
    own.iter().chain(&others).for_each(|key| assert_eq!(set(key), "OK"));
    let listed = rig.servers.calls("keys");
    let matched = cache.invalidate_matching("*").await.unwrap();
    assert_eq!(matched, Matched::Done { invalidated: 2, deferred: 0, complete: true });
    let exists = |key: &String| rig.servers.call(&["EXISTS", key]) == "1";
    assert_eq!((own.iter().filter(|key| exists(key)).count(), others.iter().all(exists)), (0, true));
    assert_eq!(rig.servers.calls("keys"), listed);
}

#[tokio::test]
async fn what_matches_is_forgotten_here_although_the_store_has_lost_it() {
    let rig = RedisRig::new().await;
    let cache = rig.cache();
    fill(&cache, "a", "A").await;
    rig.settle().await;
    rig.servers.call(&["DEL", &format!("cache:{}:case:v1:{{a}}", rig.app)]);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
    let matched = cache.invalidate_matching("*").await.unwrap();
    assert_eq!(matched, Matched::Done { invalidated: 0, deferred: 0, complete: true });
    assert_eq!(held(&cache, "a").await, None);
}

#[tokio::test]
async fn what_waits_to_be_invalidated_again_is_gone_from_the_store_after_a_shutdown() {
    let rig = RedisRig::new().await;
    let cache = rig.builder("case").invalidate_again_after(LIFE).build().unwrap();
    cache.invalidate("a").await;
    fill(&cache, "a", "old").await;
    rig.settle().await;
    let exists = || rig.servers.call(&["EXISTS", &format!("cache:{}:case:v1:{{a}}", rig.app)]);
    assert_eq!(exists(), "1");
    let forebay = rig.forebay().clone();
    let shutdown = tokio::spawn(async move { forebay.shutdown(LIFE).await });
    assert!(at_once(&rig, shutdown).await);
    assert_eq!(exists(), "0");
}
