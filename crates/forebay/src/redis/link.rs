//! One connection to one node, from the handshake to its loss.

use std::{fmt, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, ConnectionInfo, FromRedisValue, InfoDict, Pipeline, PushInfo, PushKind,
    aio::MultiplexedConnection, cmd,
};
use tokio_util::sync::CancellationToken;

use super::{courier::Courier, reply::code};
use crate::{clock::Clock, tasks::Tasks};

/// How long connecting may take, handshake included. Nobody's call waits for as long.
pub(super) const CONNECT: Duration = Duration::from_millis(500);

/// A connection that has shown that the node can be used.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) courier: Courier,
    /// What names the server's run; nothing where the user may not ask for it.
    pub(super) run: Option<String>,
    pub(super) lost: CancellationToken,
}

impl Link {
    /// Connects. The node must be a primary and answer a ping within `budget`. `heard` is told what the server pushes,
    /// and of the loss.
    ///
    /// # Errors
    ///
    /// Why the node cannot be used, without its address.
    pub(super) async fn open(
        info: &ConnectionInfo,
        clock: &Clock,
        tasks: &Tasks,
        budget: Duration,
        heard: impl Fn(&PushInfo) + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let lost = CancellationToken::new();
        let disconnected = lost.clone();
        let told = move |push: PushInfo| {
            heard(&push);
            if push.kind == PushKind::Disconnection {
                disconnected.cancel();
            }
        };
        let opening = async {
            let connection = connect(info, told).await?;
            let (run, replica) = introduce(connection.clone()).await;
            if replica {
                return Err("it is a replica, which takes no writes".to_owned());
            }
            let ping = cmd("PING");
            let mut pinged = connection.clone();
            match clock.timeout(budget, pinged.send_packed_command(&ping)).await {
                Some(Ok(_)) => Ok(Self { courier: Courier::start(connection, tasks), run, lost }),
                Some(Err(error)) => Err(reason(&error)),
                None => Err("it answers too slowly".to_owned()),
            }
        };
        clock.timeout(CONNECT, opening).await.unwrap_or_else(|| Err("it does not answer".to_owned()))
    }

    /// Whether the node answers a ping.
    pub(super) async fn pings(&self) -> bool {
        self.courier.ask(vec![cmd("PING")]).await.is_ok()
    }
}

/// Connects; `told` hears what the server pushes, and of the loss.
pub(super) async fn connect(
    info: &ConnectionInfo,
    told: impl Fn(PushInfo) + Send + Sync + 'static,
) -> Result<MultiplexedConnection, String> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(None)
        .set_response_timeout(None)
        .set_pipeline_buffer_size(1024)
        .set_push_sender(move |push: PushInfo| {
            told(push);
            Ok::<_, redis::aio::SendError>(())
        });
    let client = Client::open(info.clone()).map_err(|error| reason(&error))?;
    client.get_multiplexed_async_connection_with_config(&config).await.map_err(|error| reason(&error))
}

/// The run of the server, and whether it is a replica, as far as the user may ask.
async fn introduce(mut connection: MultiplexedConnection) -> (Option<String>, bool) {
    let mut pipeline = Pipeline::new();
    pipeline.ignore_errors().cmd("INFO").arg("server").cmd("INFO").arg("replication");
    let Ok(answers) = connection.send_packed_commands(&pipeline, 0, 2).await else { return (None, false) };
    let mut sections = answers.into_iter().map(|answer| InfoDict::from_redis_value(answer).ok());
    let (server, replication) = (sections.next().flatten(), sections.next().flatten());
    let run = server.and_then(|server| server.get("run_id"));
    let role: Option<String> = replication.and_then(|replication| replication.get("role"));
    (run, role.as_deref() == Some("slave"))
}

/// What an error says, without the address.
pub(super) fn reason(error: &redis::RedisError) -> String {
    let text = error.to_string();
    match error.code() {
        Some(_) if text.contains("DB index") => "it has no database of that number".to_owned(),
        Some(_) => format!("it answers {}", code(error)),
        None if error.is_connection_refusal() => "it refuses connections".to_owned(),
        None if text.contains("NotValidForName") => "its certificate is for another name".to_owned(),
        None if text.contains("CaUsedAsEndEntity") => {
            "its certificate is one of an authority, which is not for servers".to_owned()
        }
        None if text.contains("certificate") => "its certificate is not trusted".to_owned(),
        None if text.contains("lookup address") => "its name is not known".to_owned(),
        None => error.category().to_owned(),
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("run", &self.run).finish_non_exhaustive()
    }
}
