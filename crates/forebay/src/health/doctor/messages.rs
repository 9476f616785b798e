//! Whether a process hears of what others do.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

use super::{
    Verdict,
    connection::ms,
    exam::{Exam, Seen},
};
use crate::redis::{Reply, Request, Road, Signal, UNKNOWN};

/// The subscription may have to be made first.
const CONFIRMED: Duration = Duration::from_secs(2);
const BACK: Duration = Duration::from_secs(1);

impl Exam<'_> {
    pub(super) async fn messages(&mut self) -> Seen {
        let remedy = "allow SUBSCRIBE and PUBLISH on the channels of the application (ACL SETUSER … +subscribe \
                      +publish), and look for proxies that do not pass them on";
        match self.loop_back().await {
            Some(span) => (format!("back after {}", ms(span)), Verdict::Well),
            None => ("what is published does not come back".to_owned(), Verdict::fault(remedy)),
        }
    }

    /// How long a message takes there and back.
    async fn loop_back(&self) -> Option<Duration> {
        let (clock, channel) = (self.redis.clock(), self.keys().scratch_channel(&self.home.token()));
        let heard = Arc::new([Notify::new(), Notify::new()]);
        let ear = heard.clone();
        let _tuned = self.redis.tune(channel.clone(), move |signal| match signal {
            Signal::Confirmed => ear[0].notify_one(),
            Signal::Message(_) => ear[1].notify_one(),
            Signal::Lost => {}
        });
        clock.timeout(CONFIRMED, heard[0].notified()).await?;
        let began = clock.reading();
        let publish = Request::Publish { channel: &channel, message: b"doctor" };
        self.redis.call(publish, Road::Usual, self.redis.budget(Road::Large)).await.ok()?;
        clock.timeout(BACK, heard[1].notified()).await?;
        Some(clock.reading().saturating_sub(began))
    }

    pub(super) async fn tracking(&mut self) -> Seen {
        let prefix = self.keys().values();
        let on = self.ask(&["CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", &prefix]).await;
        let refusal = match on {
            Some(answer) if answer.text() == Some("OK") => None,
            answer => Some(answer.as_ref().and_then(Reply::code).unwrap_or_default().to_owned()),
        };
        self.ask(&["CLIENT", "TRACKING", "OFF"]).await;
        match refusal.as_deref() {
            None => ("writes of others are told of".to_owned(), Verdict::Well),
            Some(UNKNOWN) => {
                let remedy =
                    "only spaces with `coherence = \"tracking\"` need it: undo the rename-command of CLIENT";
                ("the server has no command CLIENT".to_owned(), Verdict::warning(remedy))
            }
            Some(_) => {
                let remedy = "only spaces with `coherence = \"tracking\"` need it: allow CLIENT TRACKING (ACL SETUSER … \
                              +client|tracking), without a proxy between";
                ("refused".to_owned(), Verdict::warning(remedy))
            }
        }
    }
}
