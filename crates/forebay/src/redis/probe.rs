//! A connection of its own to one node, for what would disturb the others on theirs: another database, a subscription.

use std::fmt;

use redis::aio::MultiplexedConnection;

use super::{
    home::Home,
    link::{CONNECT, connect},
    primary::ANSWERS,
    reply::{Reply, code},
    request::{Words, spelled},
};
use crate::clock::Clock;

/// The connection; it ends when this is dropped.
pub(crate) struct Probe {
    connection: MultiplexedConnection,
    clock: Clock,
}

impl Probe {
    /// Connects, to whatever is there.
    ///
    /// # Errors
    ///
    /// Why that did not succeed.
    pub(super) async fn open(home: &Home, clock: &Clock) -> Result<Self, String> {
        let opening = async {
            let info = home.find().await?;
            connect(&info, |_| ()).await
        };
        let opened = clock.timeout(CONNECT, opening).await;
        let connection = opened.unwrap_or_else(|| Err("it does not answer".to_owned()))?;
        Ok(Self { connection, clock: clock.clone() })
    }

    /// What a command answers, be it an error of the server; nothing where the connection is lost, or silent.
    pub(crate) async fn ask(&mut self, command: &Words) -> Option<Reply> {
        let mut pipeline = redis::Pipeline::new();
        pipeline.ignore_errors().add_command(spelled(command));
        let answer = self.connection.send_packed_commands(&pipeline, 0, 1);
        let answers = self.clock.timeout(ANSWERS, answer).await?.ok()?;
        answers.into_iter().next().map(Reply::from)
    }

    /// What is answered to whoever wants to hear a channel, be it an error of the server; nothing where nobody answers.
    pub(crate) async fn subscribe(&mut self, channel: &str) -> Option<Reply> {
        match self.clock.timeout(ANSWERS, self.connection.subscribe(channel)).await? {
            Ok(()) => Some(Reply::Nothing),
            Err(error) => error.code().map(|_| Reply::Error(code(&error).to_owned())),
        }
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").finish_non_exhaustive()
    }
}
