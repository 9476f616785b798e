//! Whether the layer under a `Forebay` is well: what Redis tells of itself, rated, and what to do about it.
//!
//! | to see | read |
//! |---|---|
//! | what a server tells, and how that is asked and read | `figures`, `ask`, `info` |
//! | all of it together | `report` |
//! | what it has done lately | `recent` |
//! | which figures are good, and what to do where they are not | `rating`, `advice` |
//! | keys without expiry, and big ones | `sample` |
//! | everything that can be wrong with a set-up, in order | `doctor` |

mod advice;
mod ask;
mod doctor;
mod figures;
mod info;
mod rating;
mod recent;
mod report;
mod sample;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::future::join_all;

pub use self::{
    advice::Advice,
    doctor::{Check, Diagnosis, Finding, Verdict},
    figures::{Clients, ClockDifference, Database, Figures, Memory, Persistence, Replication, Traffic},
    rating::{Rating, Ratings},
    report::{Health, HotKey, RedisHealth, RefusedSubject, Server},
    sample::{BigKey, Sample, SampleBounds},
};
use self::{
    advice::{nearly_full, ranked},
    ask::ask,
    recent::{Counters, Readings},
    sample::Sampler,
};
use crate::{
    bus::Bus,
    clock::Moment,
    context::{Context, Remote},
    dice::Dice,
    key::Keys,
    once::{self, Claim},
    redis::Redis,
    sync::Mutex,
    token::Token,
};

/// Whoever asks again within so much time gets the same answer.
const ANEW: Duration = Duration::from_secs(1);

/// Only one process tells of full memory in so much time.
const WARNS_EVERY: Duration = Duration::from_hours(1);

/// The claim of the process that does.
const WARNING: &str = "forebay: memory above 80 %";

/// What all of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Home(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    keys: Keys,
    dice: Dice,
    /// Redis, and how it is heard.
    remote: Option<(Remote, Bus)>,
    once: once::Home,
    /// Whether keys are in use that nothing could load again.
    relied_on: AtomicBool,
    /// The latest report. Whoever asks meanwhile waits for it.
    latest: tokio::sync::Mutex<Option<(Moment, Box<RedisHealth>)>>,
    /// What nodes told last, by their names.
    told: Mutex<HashMap<String, (Moment, Figures)>>,
    readings: Mutex<Readings>,
    /// Until when another process, or this one, has told of full memory.
    warned_until: Mutex<Moment>,
    sampler: tokio::sync::Mutex<Sampler>,
    sample: Mutex<Option<Sample>>,
}

impl Home {
    pub(crate) fn new(context: &Context, once: once::Home, remote: Option<(Remote, Bus)>) -> Self {
        Self(Arc::new(Inner {
            keys: Keys::new(context.app.clone()),
            dice: context.dice.clone(),
            remote,
            once,
            relied_on: AtomicBool::new(false),
            latest: tokio::sync::Mutex::default(),
            told: Mutex::default(),
            readings: Mutex::default(),
            warned_until: Mutex::default(),
            sampler: tokio::sync::Mutex::default(),
            sample: Mutex::default(),
        }))
    }

    /// From now on there are keys that nothing could load again.
    pub(crate) fn rely(&self) {
        if !self.0.relied_on.load(Relaxed) {
            self.0.relied_on.store(true, Relaxed);
        }
    }

    pub(crate) async fn report(&self) -> Health {
        let Some(redis) = self.redis() else { return Health::Memory };
        let mut latest = self.0.latest.lock().await;
        if let Some((at, health)) = &*latest
            && redis.clock().now().since(*at) < ANEW
        {
            return Health::Redis(health.clone());
        }
        let health = Box::new(self.look(redis).await);
        // As of the end: whoever has waited for a slow look has its answer, and does not look again.
        let now = redis.clock().now();
        *latest = Some((now, health.clone()));
        drop(latest);
        self.warn(&health, now).await;
        Health::Redis(health)
    }

    async fn look(&self, redis: &Redis) -> RedisHealth {
        let nodes = redis.nodes();
        let servers = join_all(nodes.iter().map(|node| ask(redis, node))).await;
        let reason = redis.trouble();
        self.judged(RedisHealth {
            usable: reason.is_none(),
            reason,
            servers: self.remembered(servers, redis.clock().now()),
            round_trips: redis.trips(),
            sample: self.0.sample.lock().clone(),
            ..RedisHealth::default()
        })
    }

    /// Gives those that tell nothing the figures that they told last.
    fn remembered(&self, servers: Vec<Server>, now: Moment) -> Vec<Server> {
        let mut told = self.0.told.lock();
        told.retain(|node, _| servers.iter().any(|server| server.node == *node));
        let complete = |server: Server| match &server.figures {
            Some(figures) => {
                told.insert(server.node.clone(), (now, figures.clone()));
                server
            }
            None => {
                let last = told.get(&server.node);
                let age = last.map_or(Duration::ZERO, |(at, _)| now.since(*at));
                Server { figures: last.map(|(_, figures)| figures.clone()), age, ..server }
            }
        };
        servers.into_iter().map(complete).collect()
    }

    /// Adds what the figures mean.
    fn judged(&self, mut health: RedisHealth) -> RedisHealth {
        let relied_on = self.0.relied_on.load(Relaxed);
        let recent = self.recent(&health);
        health.hit_rate = recent.and_then(|recent| recent.hit_rate());
        let figures = || health.servers.iter().filter_map(|server| server.figures.as_ref());
        health.ratings = Ratings::of(figures().map(|of| (&of.memory, &of.clients)), health.hit_rate);
        let mut advice: Vec<_> = figures().flat_map(|figures| Advice::about(figures, relied_on)).collect();
        let recent = recent.unwrap_or_default();
        advice.extend((recent.evicted > 0).then_some(Advice::HasEvicted { keys: recent.evicted }));
        advice.extend((recent.rejected > 0).then_some(Advice::HasRejected { connections: recent.rejected }));
        let permanent = health.sample.as_ref().map_or(0, |sample| sample.permanent.len());
        advice.extend((permanent > 0).then_some(Advice::Permanent { keys: permanent }));
        health.advice = ranked(advice);
        health
    }

    fn recent(&self, health: &RedisHealth) -> Option<Counters> {
        let redis = self.redis()?;
        let figures = health.servers.iter().filter_map(|server| server.figures.as_ref());
        let counters = |figures: &Figures| Some((figures.run_id.clone()?, Counters::of(&figures.traffic)));
        let reading = figures.filter_map(counters).collect();
        self.0.readings.lock().since(redis.clock().now(), reading)
    }

    /// Says in the log that memory is nearly full, unless a process has within the hour. Memory that is full has no room
    /// for the claim: then each process says so.
    async fn warn(&self, health: &RedisHealth, now: Moment) {
        let figures = health.servers.iter().filter_map(|server| server.figures.as_ref());
        let Some(percent) = figures.filter_map(nearly_full).max_by(f64::total_cmp) else { return };
        if now < *self.0.warned_until.lock() {
            return;
        }
        let (says, quiet) = match self.0.once.claim(WARNING, WARNS_EVERY, None).await {
            Ok(Claim::Taken { retry_after }) => (false, retry_after),
            Ok(Claim::Claimed { .. }) | Err(_) => (true, WARNS_EVERY),
        };
        *self.0.warned_until.lock() = now.after(quiet);
        if says {
            tracing::warn!("{}", Advice::NearlyFull { percent });
        }
    }

    pub(crate) async fn sample(&self, bounds: SampleBounds) -> Sample {
        let Some(redis) = self.redis() else { return Sample::default() };
        let mut sampler = self.0.sampler.lock().await;
        sampler.look(redis, &self.0.keys, bounds).await;
        let told = sampler.told();
        *self.0.sample.lock() = Some(told.clone());
        told
    }

    /// What nobody else has in a name.
    fn token(&self) -> String {
        Token::roll(&self.0.dice).to_string()
    }

    fn redis(&self) -> Option<&Redis> {
        self.0.remote.as_ref().map(|(remote, _)| &remote.redis)
    }
}
