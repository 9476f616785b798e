//! The rows behind the cache, and the loads of this process.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hitbox_fn::CacheableResponse;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use crate::order::{Load, Moment, Origin};

/// What is cached.
#[derive(Debug, Clone, Serialize, Deserialize, CacheableResponse)]
pub(crate) struct Thing {
    pub(crate) version: u64,
    pub(crate) pid: u32,
}

impl Thing {
    pub(crate) fn of(version: u64) -> Self {
        Self { version, pid: std::process::id() }
    }
}

/// What the loader brings when it is told to.
#[derive(Debug)]
pub(crate) struct LoadFailed;

#[derive(Clone)]
pub(crate) struct Source {
    rows: u16,
    loads: Arc<Mutex<Loads>>,
}

#[derive(Default)]
struct Loads {
    begun: u64,
    untold: Vec<(u64, Load)>,
}

impl Source {
    /// The rows that are served at this port of this machine.
    pub(crate) fn at(rows: u16) -> Self {
        Self { rows, loads: Arc::default() }
    }

    pub(crate) async fn load(&self, id: &str, origin: Origin) -> Result<Thing, LoadFailed> {
        let number = self.begin(id);
        let loaded = match origin {
            Origin::Failure { ms } => {
                pause(ms).await;
                Err(LoadFailed)
            }
            Origin::Row { ms } => {
                let version = self.row("read", id).await;
                pause(ms).await;
                Ok(Thing::of(version))
            }
        };
        self.end(number);
        loaded
    }

    /// Gives the row its next version.
    pub(crate) async fn raise(&self, id: &str) -> u64 {
        self.row("raise", id).await
    }

    /// The loads that began since the last time, and those that still ran then.
    pub(crate) fn tell(&self) -> Vec<Load> {
        let mut loads = self.loads();
        let told = loads.untold.iter().map(|(_, load)| load.clone()).collect();
        loads.untold.retain(|(_, load)| load.ended.is_none());
        told
    }

    async fn row(&self, what: &str, id: &str) -> u64 {
        let asked = async {
            let mut rows = TcpStream::connect(("127.0.0.1", self.rows)).await?;
            rows.write_all(format!("{what} {id}\n").as_bytes()).await?;
            let mut version = String::new();
            BufReader::new(rows).read_line(&mut version).await?;
            Ok::<_, std::io::Error>(version)
        };
        let version = asked.await.expect("the rows are served for as long as the trial runs");
        version.trim().parse().expect("a version is a number")
    }

    fn begin(&self, id: &str) -> u64 {
        let mut loads = self.loads();
        loads.begun += 1;
        let number = loads.begun;
        loads.untold.push((number, Load { id: id.to_owned(), began: Moment::now(), ended: None }));
        number
    }

    fn end(&self, number: u64) {
        if let Some((_, load)) = self.loads().untold.iter_mut().find(|(other, _)| *other == number) {
            load.ended = Some(Moment::now());
        }
    }

    fn loads(&self) -> MutexGuard<'_, Loads> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
