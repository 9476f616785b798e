//! Sentinels make another server the primary: callers notice nothing, and what that server lacks is done there again.

use std::{convert::Infallible, sync::Arc, time::Duration};

use forebay::{
    Forebay,
    cache::{Cache, Invalidated},
    clock::Clock,
};
use forebay_rig::{Redis, Sentinels, unless_starved};
use tokio::runtime::Runtime;

use crate::{
    callers::Callers,
    stage::{PATIENCE, key, process, read, status, works},
    timing::{pass, timed, until},
};

/// How soon the new primary is in use once the sentinels agree on it.
const BACK: Duration = Duration::from_secs(2);

/// What a read may cost, and what a busy machine adds.
const MOST: Duration = Duration::from_millis(50 + 200);

/// Servers, sentinels, and a process that asks these for the way.
struct Watched {
    servers: Arc<Sentinels>,
    forebay: Forebay,
    cache: Cache<String>,
}

impl Watched {
    async fn new() -> Self {
        let servers = Sentinels::start();
        let url = servers.url();
        Self::at(servers, &url).await
    }

    async fn at(servers: Sentinels, url: &str) -> Self {
        let (forebay, cache) = process(url).await;
        let watched = Self { servers: Arc::new(servers), forebay, cache };
        watched.until(works).await;
        watched
    }

    async fn until(&self, holds: impl Fn(&Forebay) -> bool) -> Duration {
        let waited = until(PATIENCE, || holds(&self.forebay)).await;
        waited.unwrap_or_else(|| panic!("{:?}", status(&self.forebay)))
    }

    /// Does what takes long without holding up the process.
    async fn apart<T: Send + 'static>(&self, work: impl FnOnce(&Sentinels) -> T + Send + 'static) -> T {
        let servers = self.servers.clone();
        tokio::task::spawn_blocking(move || work(&servers)).await.expect("the servers do it")
    }

    /// Reads `id` until the server has a value for it.
    async fn fill(&self, id: &str, value: &str, server: &Redis) -> Duration {
        let stored = || server.call(&["EXISTS", &key(id)]) == "1";
        let filling = async {
            while !stored() {
                let value = value.to_owned();
                let load = async move |_| Ok::<_, Infallible>(value);
                self.cache.fresh().get_or_load(id, load).await.expect("no caller sees an error");
                pass(Duration::from_millis(5)).await;
            }
        };
        let (took, filled) = timed(Clock::real().timeout(PATIENCE, filling)).await;
        filled.unwrap_or_else(|| panic!("{id} is not stored: {:?}", status(&self.forebay)));
        took
    }
}

fn settled(forebay: &Forebay) -> bool {
    works(forebay) && status(forebay).deferred == 0
}

/// Has another server made the primary under load.
async fn changes_hands(strike: fn(&Sentinels)) -> Result<(), String> {
    let watched = Watched::new().await;
    let before = watched.servers.primary().port();
    let callers = Callers::begin(&watched.cache);
    pass(Duration::from_millis(300)).await;
    watched.apart(strike).await;
    let back = watched.until(settled).await;
    let primary = watched.servers.primary();
    let stored = watched.fill("after", "it", primary).await;
    let seen = callers.end().await;
    println!("settled after {back:?}, stored after {stored:?}: {seen}");
    assert_ne!(primary.port(), before);
    seen.assert_unharmed();
    assert_eq!(watched.cache.invalidate("after").await, Invalidated::Everywhere);
    assert_eq!(primary.call(&["EXISTS", &key("after")]), "0");
    if back + stored > BACK {
        return Err(format!("in use after {back:?} and {stored:?}"));
    }
    seen.in_time(MOST)
}

fn alone<T>(trial: impl Future<Output = T>) -> T {
    Runtime::new().expect("a runtime can be had").block_on(trial)
}

#[test]
fn a_primary_that_is_killed_is_replaced_and_no_caller_notices() {
    let strike = |servers: &Sentinels| assert!(servers.lose_primary().port() > 0);
    unless_starved(|| alone(changes_hands(strike)));
}

#[test]
fn a_primary_that_hands_over_is_left_and_no_caller_notices() {
    unless_starved(|| alone(changes_hands(Sentinels::fail_over)));
}

/// Cuts the replicas off from the primary, which goes on by itself.
fn cut_off(servers: &Sentinels) -> Vec<&Redis> {
    let primary = servers.primary();
    let replicas: Vec<_> = servers.servers().iter().filter(|one| one.port() != primary.port()).collect();
    primary.call(&["ACL", "SETUSER", "default", "-psync", "-sync"]);
    primary.call(&["CLIENT", "KILL", "TYPE", "replica"]);
    replicas
}

#[tokio::test]
async fn what_the_new_primary_lacks_is_invalidated_there_again() {
    let watched = Watched::new().await;
    watched.fill("a", "old", watched.servers.primary()).await;
    let replicas = cut_off(&watched.servers);
    let lags = |replica: &&Redis| replica.field("replication", "master_link_status").unwrap() == "down";
    until(PATIENCE, || replicas.iter().all(lags)).await.expect("the replicas are cut off");
    assert_eq!(watched.cache.invalidate("a").await, Invalidated::Everywhere);
    let has = |replica: &&Redis| replica.call(&["EXISTS", &key("a")]) == "1";
    assert!(replicas.iter().all(has), "the replicas know nothing of it");
    watched.servers.primary().kill();
    let taken_over = tokio::spawn({
        let servers = watched.servers.clone();
        async move { until(Duration::from_secs(90), || servers.servers().iter().any(leads)).await }
    });
    while !(taken_over.is_finished() && settled(&watched.forebay)) {
        assert_eq!(read(&watched.cache, "a", "new").await, "new", "{:?}", status(&watched.forebay));
        pass(Duration::from_millis(1)).await;
    }
    let (other, neighbour) = process(&watched.servers.url()).await;
    until(PATIENCE, || works(&other)).await.expect("the neighbour uses Redis");
    assert_eq!(read(&neighbour, "a", "new").await, "new");
}

fn leads(server: &Redis) -> bool {
    server.answers(Duration::from_millis(100))
        && server.field("replication", "role").is_some_and(|role| role == "master")
}

#[tokio::test]
async fn a_deposed_primary_that_still_answers_is_left_at_once() {
    let servers = Sentinels::start();
    for server in servers.servers() {
        assert_eq!(server.call(&["ACL", "SETUSER", "web", "on", ">secret", "~*", "&*", "+@all"]), "OK");
    }
    let url = servers.url().replace("://", "://web:secret@") + "?sentinel_password=";
    let watched = Watched::at(servers, &url).await;
    let old = watched.servers.primary();
    watched.fill("before", "it", old).await;
    // Large values have a connection of their own.
    let large: String =
        (0..40_000_u64).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761) as u32)).collect();
    watched.fill("large-before", &large, old).await;
    // Nobody but the process is let in any more: the sentinels take it for dead, and cannot tell it what it is now.
    assert_eq!(old.call(&["ACL", "SETUSER", "default", "-@all", "+client", "+exists"]), "OK");
    old.call(&["CLIENT", "KILL", "TYPE", "replica"]);
    let port = old.port();
    watched
        .apart(move |servers| {
            let old = servers.servers().iter().find(|server| server.port() == port);
            servers.replaced(old.expect("it is one of them"));
        })
        .await;
    let new = watched.servers.primary();
    let stored = watched.fill("after", "it", new).await;
    let large_stored = watched.fill("large-after", &large, new).await;
    println!("left after {stored:?}, by large values after {large_stored:?}");
    assert!(stored <= BACK && large_stored <= BACK, "{stored:?}, {large_stored:?}");
    assert_eq!(old.call(&["EXISTS", &key("after")]), "0");
    watched.until(settled).await;
}

#[tokio::test]
async fn a_status_names_what_is_wrong_with_the_sentinels() {
    let servers = Sentinels::start();
    let (unknown, _cache) = process(&servers.url_of("other")).await;
    let names = |forebay: &Forebay, what: &str| status(forebay).reason.is_some_and(|why| why.contains(what));
    let said = until(PATIENCE, || names(&unknown, "no sentinel knows a primary by the name other")).await;
    assert!(said.is_some(), "{:?}", status(&unknown));
    let url = servers.url();
    drop(servers);
    let (nobody, _cache) = process(&url).await;
    let said = until(PATIENCE, || names(&nobody, "no sentinel answers: it refuses connections")).await;
    assert!(said.is_some(), "{:?}", status(&nobody));
}
