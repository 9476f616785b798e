//! The settings: read from flags, variables and a file, checked as a whole before anything starts.
//!
//! A flag beats a variable, a variable beats the file. There is one struct per concern; a setting that
//! none of them has is refused by its full name.

mod auth;
mod cache;
mod doubts;
mod file;
mod flags;
mod limits;
mod listen;
mod period;
mod redis;
mod refresh;
mod server;
mod store;
mod told;
mod topics;
mod unique;
mod windows;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use forebay::key::App;

pub(crate) use auth::{Auth, Scope, Token};
pub(crate) use cache::{Cache, Space};
use file::File;
pub(crate) use flags::Flags;
pub(crate) use limits::{Limits, Policy};
pub(crate) use period::typed as period;
use redis::Redis;
use server::Server;
pub(crate) use store::Store;
pub(crate) use told::Setting;
use topics::Topics;
pub(crate) use unique::{Counter, Unique};

const APP: &str = "forebay";
const LISTEN: &str = "127.0.0.1:7340";

/// How long callers of a space may wait, if the space does not say.
const WAIT: Duration = Duration::from_secs(30);

/// The longest wait for a lock that the library takes.
const LOCK_WAIT: Duration = Duration::from_hours(1);

/// All settings, checked.
#[derive(Debug)]
pub(crate) struct Config {
    /// The application's name, first part of every key: `--app`, `FOREBAY_APP`, `app`. Default: `forebay`.
    pub(crate) app: String,
    /// Where to listen: `--listen`, `FOREBAY_LISTEN`, `listen`. Default: `127.0.0.1:7340`.
    pub(crate) listen: Vec<SocketAddr>,
    pub(crate) store: Store,
    pub(crate) redis: Redis,
    pub(crate) server: Server,
    pub(crate) cache: Cache,
    pub(crate) limits: Limits,
    pub(crate) unique: Unique,
    pub(crate) topics: Topics,
    pub(crate) auth: Auth,
    file: Option<PathBuf>,
}

/// A setting that cannot be used, in words that name it, its place and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConfigError(String);

impl Config {
    /// Reads and checks every setting.
    pub(crate) fn load(flags: Flags) -> Result<Self, ConfigError> {
        let flags = flags.without_empty_ones();
        let file = match &flags.config {
            Some(path) => File::read(path)?,
            None => File::default(),
        };
        let store = Store::choose(&flags, &file)?;
        let listen = flags.listen.or(file.listen).unwrap_or_else(|| LISTEN.to_owned());
        let config = Self {
            app: flags.app.or(file.app).unwrap_or_else(|| APP.to_owned()),
            listen: listen::resolve(&listen)?,
            store,
            redis: file.redis,
            server: file.server,
            cache: file.cache,
            limits: file.limits.complete(),
            unique: file.unique,
            topics: file.topics,
            auth: file.auth,
            file: flags.config,
        };
        config.check(&listen)?;
        Ok(config)
    }

    fn check(&self, listen: &str) -> Result<(), ConfigError> {
        App::new(&self.app).map_err(|error| self.refuse(format!("`app`: {error}")))?;
        self.auth.check().map_err(|message| self.refuse(message))?;
        if self.auth.tokens.is_empty() {
            listen::require_loopback(listen, &self.listen)?;
        }
        self.redis.check().map_err(|message| self.refuse(message))?;
        self.cache.check().map_err(|message| self.refuse(message))?;
        self.limits.check().map_err(|message| self.refuse(message))?;
        self.unique.check().map_err(|message| self.refuse(message))?;
        self.topics.check().map_err(|message| self.refuse(message))?;
        let limit = self.server.limit().and_then(|policy| Some((policy, self.limits.get(policy)?)));
        self.auth.check_tiers(limit).map_err(|message| self.refuse(message))?;
        self.server.check(&self.cache, &self.limits).map_err(|message| self.refuse(message))
    }

    /// An error that blames a setting of the file.
    pub(crate) fn refuse(&self, message: String) -> ConfigError {
        match &self.file {
            Some(path) => ConfigError(format!("{}: {message}", path.display())),
            None => ConfigError(message),
        }
    }

    /// The settings in which `other` differs, but for the limits.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let settings = [
            ("app", self.app != other.app),
            ("listen", self.listen != other.listen),
            ("redis", self.store != other.store || self.redis != other.redis),
            ("server", self.server != other.server),
            ("cache", self.cache != other.cache),
            ("unique", self.unique != other.unique),
            ("topics", self.topics != other.topics),
            ("auth", self.auth != other.auth),
        ];
        settings.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned()).collect()
    }

    /// How long a request may take.
    pub(crate) fn request_deadline(&self) -> Duration {
        self.server.request_deadline(&self.cache)
    }

    /// How long callers may wait for a lock: less than the deadline, and not more than the library lets them.
    pub(crate) fn lock_wait(&self) -> Duration {
        (self.request_deadline() / 10 * 9).min(LOCK_WAIT)
    }

    /// How long callers of an undeclared space may wait: less than the deadline.
    pub(crate) fn undeclared_wait(&self) -> Duration {
        WAIT.min(self.request_deadline().mul_f32(0.9))
    }
}
