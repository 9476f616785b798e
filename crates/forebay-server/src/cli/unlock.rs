//! `forebay unlock`: takes a lock from whoever holds it.

use clap::Args;
use reqwest::Method;
use serde::Serialize;

use super::{
    Failure, Verdict,
    client::Reach,
    output::{Output, Paint, Report},
    wait_for,
    words::printable,
};
use crate::api::locks::Released;

/// Takes a lock away from whoever holds it, where its holder hangs and goes on renewing it
///
/// The holder is told when it next renews the lock, and may work until then; whoever has the lock next has a larger fence.
/// The token needs the scope `ops`.
#[derive(Debug, Args)]
pub(super) struct Unlock {
    /// The name of the lock
    name: String,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Serialize)]
struct Unlocked {
    name: String,
    #[serde(flatten)]
    released: Released,
}

impl Unlock {
    pub(super) fn run(self) -> Result<Verdict, Failure> {
        let output = self.output;
        output.tell(&wait_for(self.send())?)?;
        Ok(Verdict::Well)
    }

    async fn send(self) -> Result<Unlocked, Failure> {
        let client = self.reach.client()?;
        let request = client.request(Method::DELETE, &["ops", "locks", &self.name])?;
        let released = client.read(client.send(request).await?).await?;
        Ok(Unlocked { name: self.name, released })
    }
}

impl Report for Unlocked {
    fn text(&self, _: Paint) -> String {
        let name = printable(&self.name);
        match self.released.released {
            true => format!("{name} was taken from its holder\n"),
            false => format!("nobody held {name}\n"),
        }
    }
}
