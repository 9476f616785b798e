//! What is shown meanwhile: events one below the other, and a live line under them.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    time::Instant,
};

use serde::Serialize;

use super::{ORIGIN, end::Compared, load::Shop, redis::OwnRedis};
use crate::cli::{
    Failure,
    output::{Output, Paint, go_on, json},
    stopwatch::now,
    words::{count, span},
};

/// One line for programs.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Told<'a> {
    Opening {
        page: String,
        redis: Option<String>,
    },
    Event {
        second: u64,
        text: &'a str,
    },
    Live {
        second: u64,
        requests: u64,
        failed: u64,
        origin_calls: u64,
        p50_ms: f64,
        p99_ms: f64,
        now: &'a str,
    },
    End(&'a Compared),
}

/// Where it is shown.
#[derive(Debug)]
pub(super) struct Screen {
    output: Output,
    paint: Paint,
    /// Whether the live line is written over itself.
    rewrites: bool,
    seconds: u64,
    began: Instant,
    live: String,
    now: &'static str,
}

impl Screen {
    pub(super) fn new(output: Output, seconds: u64) -> Self {
        let rewrites = io::stdout().is_terminal() && !output.json;
        let (paint, began) = (Paint::for_stdout(), now());
        Self { output, paint, rewrites, seconds, began, live: String::new(), now: "" }
    }

    /// Says what is about to be seen.
    pub(super) fn opening(&mut self, address: SocketAddr, redis: Option<&OwnRedis>) -> Result<(), Failure> {
        let page = format!("http://{address}/");
        if self.output.json {
            return self.tell(&Told::Opening { page, redis: redis.map(|redis| redis.program().to_owned()) });
        }
        let store = match redis {
            Some(redis) => format!("a {} of its own, stopped and killed on the way", redis.program()),
            None => "the memory of this process: no redis-server is to be used here".to_owned(),
        };
        let (slow, seconds) = (span(ORIGIN), self.seconds);
        go_on(&format!(
            "{}\n\nMany callers read products for {seconds} s. To load one from its origin takes {slow}.\n\
             Without Forebay every request would be such a load.\n\n  page   {page}\n  store  {store}\n\n",
            self.paint.bold("What Forebay is for")
        ))
    }

    /// Something has happened.
    pub(super) fn event(&mut self, text: &str) -> Result<(), Failure> {
        let second = self.second();
        if self.output.json {
            return self.tell(&Told::Event { second, text });
        }
        let line = self.paint.bold(&format!("{second:3} s  {text}"));
        match self.rewrites {
            true => go_on(&format!("\r\x1b[K{line}\n{}", self.live)),
            false => go_on(&format!("{line}\n")),
        }
    }

    /// What goes on until something else does.
    pub(super) fn now(&mut self, now: &'static str) {
        self.now = now;
    }

    /// The live line.
    pub(super) fn live(&mut self, shop: &Shop) -> Result<(), Failure> {
        let (second, seen, calls) = (self.second(), shop.figures.recent(), shop.origin.calls());
        if self.output.json {
            let [p50_ms, p99_ms] = [seen.p50, seen.p99].map(|time| time.as_secs_f64() * 1e3);
            let (requests, failed) = (seen.requests, seen.failed);
            let now = self.now;
            return self.tell(&Told::Live {
                second,
                requests,
                failed,
                origin_calls: calls,
                p50_ms,
                p99_ms,
                now,
            });
        }
        let (requests, calls) = (count(seen.requests), count(calls));
        let (p50, p99) = (span(seen.p50), span(seen.p99));
        let now = self.paint.doubtful(self.now);
        self.live = format!("{second:3} s  {requests} requests  {calls} loads  p50 {p50}  p99 {p99}  {now}");
        match self.rewrites {
            true => go_on(&format!("\r\x1b[K{}", self.live)),
            false => go_on(&format!("{}\n", self.live.trim_end())),
        }
    }

    /// What it has come to.
    pub(super) fn end(&self, compared: &Compared) -> Result<(), Failure> {
        if self.output.json {
            return self.tell(&Told::End(compared));
        }
        let over = if self.rewrites { "\r\x1b[K" } else { "" };
        go_on(&format!("{over}\n{}", compared.table(self.paint)))
    }

    /// How long it has gone on.
    pub(super) fn second(&self) -> u64 {
        self.began.elapsed().as_secs()
    }

    fn tell(&self, told: &Told<'_>) -> Result<(), Failure> {
        go_on(&(json(told) + "\n"))
    }
}
