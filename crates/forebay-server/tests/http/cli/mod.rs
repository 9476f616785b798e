//! The command line, as whoever types it sees it.

mod config;
mod demo;
mod ended;
mod help;
mod inspect;
mod invalidate;
mod origin;
mod refused;
mod stampede;
mod terminal;
mod top;
mod unlock;
mod warm;

use std::process::Output;

use serde_json::Value;

use crate::support::{Server, run};

/// What a verb has said and how it ended, asked of `server` by whoever has `token`.
pub(super) fn ask_as(server: &Server, token: &str, arguments: &[&str]) -> Said {
    let place = format!("http://{}", server.address);
    Said::of(&run(arguments, &[("FOREBAY_SERVER", &place), ("FOREBAY_TOKEN", token)], None))
}

/// Likewise, of a server that wants no token.
pub(super) fn ask(server: &Server, arguments: &[&str]) -> Said {
    ask_as(server, "", arguments)
}

/// Does what waits, beside what serves.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// The output of a verb that has ended.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Said {
    pub(super) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The one document on standard output of a verb that has ended well.
    pub(super) fn json(&self) -> Value {
        assert_eq!(self.err, "", "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}
