//! What the command line and the environment say, which takes precedence over the file.

use std::path::PathBuf;

use clap::Args;

use super::{ConfigError, file::File};

/// Flags of `forebay serve`, each with its variable.
#[derive(Debug, Default, Args)]
pub(crate) struct Flags {
    /// TOML file with the settings
    #[arg(long, env = "FOREBAY_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Where to listen [default: 127.0.0.1:7340]
    #[arg(long, env = "FOREBAY_LISTEN", value_name = "HOST:PORT")]
    pub(super) listen: Option<String>,

    /// Name of the application, the first part of every key [default: forebay]
    #[arg(long, env = "FOREBAY_APP", value_name = "NAME")]
    pub(super) app: Option<String>,

    /// Redis to keep everything in; this version knows only the memory store
    #[arg(long, env = "FOREBAY_REDIS_URL", value_name = "URL", hide_env_values = true)]
    redis: Option<String>,

    /// Forces a store, whatever else is configured: `memory`
    #[arg(long, env = "FOREBAY_STORE", value_name = "STORE")]
    store: Option<String>,
}

impl Flags {
    /// Refuses every setting that asks for Redis, unless `FOREBAY_STORE=memory` overrides them all.
    pub(super) fn refuse_redis(&self, file: &File) -> Result<(), ConfigError> {
        let named = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        match named(&self.store).as_deref() {
            Some("memory") => return Ok(()),
            Some(other) => {
                let message = "this version knows only the memory store; set it to `memory` or leave it out";
                return Err(ConfigError(format!("FOREBAY_STORE (or --store) is `{other}`: {message}")));
            }
            None => {}
        }
        let setting = match (named(&self.redis), &file.redis, &self.config) {
            (Some(_), ..) => "FOREBAY_REDIS_URL (or --redis)".to_owned(),
            (None, Some(_), Some(path)) => format!("{}: `redis`", path.display()),
            (None, ..) => return Ok(()),
        };
        let remedy = "leave it out, or set FOREBAY_STORE=memory to override it";
        Err(ConfigError(format!("{setting}: this version knows only the memory store; {remedy}")))
    }
}
