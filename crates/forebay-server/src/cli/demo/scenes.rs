//! What happens when.

use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use super::{
    load::{Crowd, Shop},
    redis::OwnRedis,
    screen::Screen,
};
use crate::cli::{
    Failure,
    stopwatch::now,
    words::{count, of, span},
};

/// How many make a crowd.
const CROWD: u64 = 200;

/// How often the live line is written.
const TICK: Duration = Duration::from_secs(1);

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    /// Many want something at once that nobody has asked for before.
    Crowd,
    /// Redis stays where it is, and is silent.
    Stopped,
    Killed,
    /// It is there again, and has lost everything.
    Back,
}

/// What happens, and after which share of the time: nothing of it in the first seconds, which show what is usual.
const SCENES: [(f64, Scene); 9] = [
    (0.05, Scene::Crowd),
    (0.15, Scene::Crowd),
    (0.27, Scene::Stopped),
    (0.34, Scene::Crowd),
    (0.42, Scene::Killed),
    (0.50, Scene::Crowd),
    (0.62, Scene::Back),
    (0.75, Scene::Crowd),
    (0.88, Scene::Crowd),
];

/// Has everything happen in its time.
pub(super) struct Director<'a> {
    pub(super) shop: &'a Shop,
    pub(super) redis: Option<OwnRedis>,
    pub(super) screen: &'a mut Screen,
    pub(super) seconds: u64,
    /// How many crowds there were.
    pub(super) crowds: u64,
}

impl Director<'_> {
    /// Has everything happen; a crowd that still waits when the time is over is not waited for.
    pub(super) async fn play(self) -> Result<(), Failure> {
        let began = Instant::from_std(now());
        let whole = Duration::from_secs(self.seconds);
        timeout_at(began + whole + TICK, self.act(began, whole)).await.unwrap_or(Ok(()))
    }

    async fn act(mut self, began: Instant, whole: Duration) -> Result<(), Failure> {
        let mut scenes =
            SCENES.iter().map(|(share, scene)| (began + whole.mul_f64(*share), *scene)).peekable();
        let mut tick = began + TICK;
        while tick <= began + whole {
            match scenes.next_if(|(at, _)| *at <= tick) {
                Some((at, scene)) => {
                    sleep_until(at).await;
                    self.show(scene).await?;
                }
                None => {
                    sleep_until(tick).await;
                    self.screen.live(self.shop)?;
                    tick += TICK;
                }
            }
        }
        Ok(())
    }

    async fn show(&mut self, scene: Scene) -> Result<(), Failure> {
        let (now, told) = match (scene, &mut self.redis) {
            (Scene::Crowd, _) => return self.crowd().await,
            (_, None) => return Ok(()),
            (Scene::Stopped, Some(redis)) => stopped(redis),
            (Scene::Killed, Some(redis)) => killed(redis),
            (Scene::Back, Some(redis)) => back(redis).await,
        };
        self.screen.now(now);
        self.screen.event(told)
    }

    async fn crowd(&mut self) -> Result<(), Failure> {
        self.crowds += 1;
        let id = format!("new-{}", self.crowds);
        let crowd = self.shop.crowd(CROWD, &id).await;
        self.screen.event(&format!("{CROWD} callers want `{id}` at once: {}", told(&crowd)))
    }
}

/// What goes on from then on, and what has happened.
type Turn = (&'static str, &'static str);

fn stopped(redis: &mut OwnRedis) -> Turn {
    match redis.pause() {
        true => ("Redis hangs", "Redis is stopped in its steps: nobody waits for it, memory answers"),
        false => ("Redis is gone", "Redis has ended by itself: nobody waits for it, memory answers"),
    }
}

fn killed(redis: &mut OwnRedis) -> Turn {
    redis.kill();
    ("Redis is gone", "Redis is killed: loads are shared within this process")
}

async fn back(redis: &mut OwnRedis) -> Turn {
    match redis.restart().await {
        true => ("", "Redis is back, and empty: all of it is used again"),
        false => ("Redis is gone", "Redis could not be started again: it goes on without"),
    }
}

fn told(Crowd { loads, unanswered, took }: &Crowd) -> String {
    let (loads, took) = (of(*loads, "load"), span(*took));
    match unanswered {
        0 => format!("{loads}, all have it in {took}"),
        _ => format!("{loads}, {} not answered in {took}", count(*unanswered)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_has_it_only_where_every_caller_has() {
        let crowd = |unanswered| told(&Crowd { loads: 1, unanswered, took: Duration::from_millis(310) });
        assert_eq!(crowd(0), "1 load, all have it in 310 ms");
        assert_eq!(crowd(2), "1 load, 2 not answered in 310 ms");
        let most = told(&Crowd { loads: CROWD, unanswered: CROWD, took: Duration::from_millis(2_345) });
        let line = format!("3600 s  {CROWD} callers want `new-9` at once: {most}");
        assert!(line.chars().count() <= 80, "{line}");
    }
}
