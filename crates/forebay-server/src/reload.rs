//! SIGHUP: the settings are read again, and what can be changed while the server runs is.
//!
//! That is the tiers of policies. Everything else that differs is named in the log, and waits for a restart.

use forebay::limiter::Tiers;
use tokio::task::spawn_blocking;

use crate::{
    config::{self, Config, Flags},
    limits::Limits,
};

/// Reads the settings again.
#[derive(Debug)]
pub(crate) struct Reload<'a> {
    flags: Flags,
    started: &'a Config,
    /// What is in force.
    limits: config::Limits,
}

/// What is to be done about new settings.
#[derive(Debug, Default)]
struct Changes {
    tiers: Vec<(String, config::Policy, Tiers)>,
    /// What only a restart can change.
    waiting: Vec<String>,
}

impl<'a> Reload<'a> {
    pub(crate) fn new(flags: Flags, started: &'a Config) -> Self {
        Self { flags, started, limits: started.limits.clone() }
    }

    /// Does it, and says in the log what has changed. Settings that cannot be used change nothing.
    pub(crate) async fn again(&mut self, limits: &Limits) {
        let flags = self.flags.clone();
        let read = spawn_blocking(|| Config::load(flags)).await;
        let Ok(read) = read else { return tracing::error!("reading the settings again has panicked") };
        let changes = read.and_then(|new| self.changes(&new).map_err(|message| new.refuse(message)));
        match changes {
            Ok(changes) => self.change(changes, limits),
            Err(error) => tracing::error!(%error, "the settings were read again, and nothing is changed"),
        }
    }

    fn changes(&self, new: &Config) -> Result<Changes, String> {
        let mut changes = Changes { waiting: self.started.differences(new), ..Changes::default() };
        for (name, policy) in new.limits.iter() {
            let Some(running) = self.limits.get(name) else {
                changes.waiting.push(format!("limits.{name}"));
                continue;
            };
            // A new mode or lowest tier waits for the restart: the tiers must do with the old one.
            let tiers = running.tiers_for(name, policy)?;
            changes
                .waiting
                .extend(running.differences(policy).map(|setting| format!("limits.{name}.{setting}")));
            if running.tiers(name)? != tiers {
                changes.tiers.push((name.to_owned(), policy.clone(), tiers));
            }
        }
        self.check_running_tokens(new)?;
        let removed = self.limits.iter().filter(|(name, _)| new.limits.get(name).is_none());
        changes.waiting.extend(removed.map(|(name, _)| format!("limits.{name}")));
        Ok(changes)
    }

    /// Tokens and `server.limit` wait for a restart, and must find their tiers until then.
    fn check_running_tokens(&self, new: &Config) -> Result<(), String> {
        let limit = self.started.server.limit().and_then(|name| Some((name, new.limits.get(name)?)));
        let fits = self.started.auth.check_tiers(limit);
        fits.map_err(|error| format!("the tokens in force stay until a restart: {error}"))
    }

    fn change(&mut self, changes: Changes, limits: &Limits) {
        let mut changed = Vec::new();
        for (name, wanted, tiers) in changes.tiers {
            match limits.replace_tiers(&name, tiers) {
                Ok(()) => {
                    self.limits.adopt_tiers(&name, wanted);
                    changed.push(format!("limits.{name}.tiers"));
                }
                Err(error) => tracing::error!(policy = name, %error, "the tiers stay as they are"),
            }
        }
        if !changes.waiting.is_empty() {
            let settings = changes.waiting.join(", ");
            tracing::warn!(settings, "they have changed in the file, and are in force after a restart");
        }
        let changed = if changed.is_empty() { "nothing".to_owned() } else { changed.join(", ") };
        tracing::info!(changed, "the settings were read again");
    }
}
