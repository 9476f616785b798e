//! Asks sentinels which server is the primary, and hears from them when another one is.

use std::{sync::Arc, time::Duration};

use futures::{
    future::join_all,
    stream::{FuturesUnordered, StreamExt},
};
use redis::{
    ConnectionAddr, ConnectionInfo, Pipeline, PushInfo, PushKind, RedisError, Value,
    aio::MultiplexedConnection,
};
use tokio::sync::watch;

use super::{
    address::Monitored,
    link::{CONNECT, connect, reason},
    reply::Reply,
};
use crate::{
    clock::{Clock, Moment},
    sync::Mutex,
};

/// Where a sentinel tells of a primary that has been replaced.
const SWITCHED: &str = "+switch-master";

/// How often they are asked while nobody tells anything: a message may be lost.
const ROUTINE: Duration = Duration::from_secs(1);

/// How long the others may take once one has answered.
const OTHERS: Duration = Duration::from_millis(50);

/// The sentinels that watch one primary.
#[derive(Debug)]
pub(super) struct Sentinels {
    monitored: Arc<Monitored>,
    sentinels: Vec<Sentinel>,
    /// How often one has told of another primary.
    switches: Arc<watch::Sender<u64>>,
    clock: Clock,
}

#[derive(Debug)]
struct Sentinel {
    info: ConnectionInfo,
    /// Kept from one question to the next.
    connection: Mutex<Option<MultiplexedConnection>>,
}

/// What one sentinel says.
enum Answer {
    /// Where the primary is, and the number of the failover that made it so.
    Primary(Box<ConnectionInfo>, u64),
    NotKnown,
    Silent(String),
}

impl Sentinels {
    pub(super) fn new(seeds: &[ConnectionInfo], monitored: Arc<Monitored>, clock: Clock) -> Self {
        let sentinel = |info: &ConnectionInfo| Sentinel { info: info.clone(), connection: Mutex::default() };
        let sentinels = seeds.iter().map(sentinel).collect();
        Self { monitored, sentinels, switches: Arc::default(), clock }
    }

    /// Where the primary is by the latest failover that any of them knows of: one that was cut off from the rest
    /// still names the primary of before.
    ///
    /// # Errors
    ///
    /// None of them answers in time, or none knows the name.
    pub(super) async fn locate(&self) -> Result<ConnectionInfo, String> {
        let mut asked: FuturesUnordered<_> =
            self.sentinels.iter().map(|sentinel| self.ask(sentinel)).collect();
        let (mut latest, mut until) = (None::<(Box<ConnectionInfo>, u64)>, None);
        let (mut knows_not, mut silent) = (false, None);
        loop {
            // Each question has an end of its own.
            let patience = until.map_or(CONNECT * 2, |until: Moment| until.since(self.clock.now()));
            let Some(Some(answer)) = self.clock.timeout(patience, asked.next()).await else { break };
            match answer {
                Answer::Primary(info, failover) => {
                    until = until.or_else(|| Some(self.clock.now().after(OTHERS)));
                    if latest.as_ref().is_none_or(|(_, other)| failover > *other) {
                        latest = Some((info, failover));
                    }
                }
                Answer::NotKnown => knows_not = true,
                Answer::Silent(why) => silent = silent.or(Some(why)),
            }
        }
        match latest {
            Some((info, _)) => Ok(*info),
            None if knows_not => Err(self.unknown()),
            None => Err(format!("no sentinel answers: {}", silent.unwrap_or_else(|| "none in time".into()))),
        }
    }

    /// What each of them says by itself, by its address: where the primary is, or why it does not say.
    pub(super) async fn survey(&self) -> Vec<(String, Result<String, String>)> {
        let says = async |sentinel: &Sentinel| {
            let said = match self.ask(sentinel).await {
                Answer::Primary(info, _) => Ok(info.addr().to_string()),
                Answer::NotKnown => Err("it does not know the name".to_owned()),
                Answer::Silent(why) => Err(why),
            };
            (sentinel.info.addr().to_string(), said)
        };
        join_all(self.sentinels.iter().map(says)).await
    }

    /// Completes once another server than that at `place` is the primary.
    pub(super) async fn depose(&self, place: &ConnectionAddr) {
        let mut switches = self.switches.subscribe();
        // They may have told of it while the connection was made, before anybody listened.
        while !self.locate().await.is_ok_and(|info| info.addr() != place) {
            self.clock.timeout(ROUTINE, switches.changed()).await;
        }
    }

    fn unknown(&self) -> String {
        let name = &self.monitored.name;
        format!("no sentinel knows a primary by the name {name}: take that of `sentinel monitor`")
    }

    async fn ask(&self, sentinel: &Sentinel) -> Answer {
        let asking = async {
            let mut connection = self.connection(sentinel).await?;
            let mut question = Pipeline::new();
            question.ignore_errors();
            question.cmd("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg(&self.monitored.name);
            question.cmd("SENTINEL").arg("MASTER").arg(&self.monitored.name);
            connection.send_packed_commands(&question, 0, 2).await.map_err(|error: RedisError| reason(&error))
        };
        let asked = self.clock.timeout(CONNECT, asking).await;
        match asked.unwrap_or_else(|| Err("it does not answer".to_owned())) {
            Ok(answers) => self.read(answers),
            Err(why) => {
                sentinel.connection.lock().take();
                Answer::Silent(why)
            }
        }
    }

    /// The connection of before, or a new one, on which the sentinel also tells by itself.
    async fn connection(&self, sentinel: &Sentinel) -> Result<MultiplexedConnection, String> {
        if let Some(connection) = &*sentinel.connection.lock() {
            return Ok(connection.clone());
        }
        let (switches, name) = (self.switches.clone(), self.monitored.name.clone());
        let told = move |push: PushInfo| {
            if concerns(&push, &name) {
                switches.send_modify(|count| *count = count.wrapping_add(1));
            }
        };
        let mut connection = connect(&sentinel.info, told).await?;
        connection.subscribe(SWITCHED).await.map_err(|error| reason(&error))?;
        *sentinel.connection.lock() = Some(connection.clone());
        Ok(connection)
    }

    /// `[host, port]` or nothing, then the fields of the primary by their names.
    fn read(&self, answers: Vec<Value>) -> Answer {
        let mut replies = answers.into_iter().map(Reply::from);
        let place = match replies.next() {
            Some(Reply::Error(code)) => return Answer::Silent(format!("it answers {code}")),
            place => place.map(Reply::into_list).unwrap_or_default(),
        };
        let fields = replies.next().map(Reply::into_list).unwrap_or_default();
        let [host, port] = &*place else { return Answer::NotKnown };
        let port = port.text().and_then(|port| port.parse().ok());
        let Some((host, port)) = host.text().zip(port) else { return Answer::NotKnown };
        Answer::Primary(Box::new(self.monitored.at(host, port)), failover(&fields))
    }
}

/// Whether a message is of the primary of this `name`: `<name> <old host> <old port> <new host> <new port>`.
fn concerns(push: &PushInfo, name: &str) -> bool {
    let (PushKind::Message, Some(Value::BulkString(message))) = (&push.kind, push.data.get(1)) else {
        return false;
    };
    message.split(|byte| *byte == b' ').next() == Some(name.as_bytes())
}

/// The number of the last failover; a sentinel that does not tell it has the last word over nobody.
fn failover(fields: &[Reply]) -> u64 {
    let (names, _) = fields.as_chunks::<2>();
    let epoch = names.iter().find(|[name, _]| name.text() == Some("config-epoch"));
    epoch.and_then(|[_, epoch]| epoch.text()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::address::Address;

    #[tokio::test]
    async fn whoever_connects_amid_a_failover_is_told_of_it_at_once() {
        let rig = forebay_rig::Sentinels::start();
        let home = Address::parse(&rig.url()).unwrap().homes(&Clock::real()).remove(0);
        let place = home.find().await.unwrap().addr().clone();
        // Meanwhile they tell of it.
        let switching = tokio::task::spawn_blocking(move || {
            rig.switch();
            rig
        });
        let _rig = switching.await.unwrap();
        let told = Clock::real().timeout(ROUTINE / 2, home.leaves(&place)).await;
        assert!(told.is_some(), "it would be left only at the next question");
    }
}
