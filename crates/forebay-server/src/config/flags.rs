//! What the command line and the environment say, which takes precedence over the file.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};

use super::{ConfigError, file::File};

/// Flags, before the verb or after it, each with its variable.
#[derive(Debug, Default, Args)]
pub(crate) struct Flags {
    /// TOML file with the settings
    #[arg(long, global = true, env = "FOREBAY_CONFIG", value_name = "FILE", value_parser = path())]
    pub(super) config: Option<PathBuf>,

    /// Where to listen [default: 127.0.0.1:7340]
    #[arg(long, global = true, env = "FOREBAY_LISTEN", value_name = "HOST:PORT")]
    pub(super) listen: Option<String>,

    /// Name of the application, the first part of every key [default: forebay]
    #[arg(long, global = true, env = "FOREBAY_APP", value_name = "NAME")]
    pub(super) app: Option<String>,

    /// Redis to keep everything in; this version knows only the memory store
    #[arg(long, global = true, env = "FOREBAY_REDIS_URL", value_name = "URL", hide_env_values = true)]
    redis: Option<String>,

    /// Forces a store, whatever else is configured: `memory`
    #[arg(long, global = true, env = "FOREBAY_STORE", value_name = "STORE")]
    store: Option<String>,
}

/// Takes an empty path too, which clap's own parser refuses.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

impl Flags {
    /// What is empty counts as not given: so `${X:-}` comes out of a compose file.
    pub(super) fn without_empty_ones(self) -> Self {
        let named = |value: Option<String>| value.filter(|value| !value.is_empty());
        Self {
            config: self.config.filter(|path| !path.as_os_str().is_empty()),
            listen: named(self.listen),
            app: named(self.app),
            redis: named(self.redis),
            store: named(self.store),
        }
    }

    /// Refuses every setting that asks for Redis, unless `FOREBAY_STORE=memory` overrides them all.
    pub(super) fn refuse_redis(&self, file: &File) -> Result<(), ConfigError> {
        match self.store.as_deref() {
            Some("memory") => return Ok(()),
            Some(other) => {
                let message = "this version knows only the memory store; set it to `memory` or leave it out";
                return Err(ConfigError(format!("FOREBAY_STORE (or --store) is `{other}`: {message}")));
            }
            None => {}
        }
        let setting = match (&self.redis, &file.redis, &self.config) {
            (Some(_), ..) => "FOREBAY_REDIS_URL (or --redis)".to_owned(),
            (None, Some(_), Some(path)) => format!("{}: `redis`", path.display()),
            (None, ..) => return Ok(()),
        };
        let remedy = "leave it out, or set FOREBAY_STORE=memory to override it";
        Err(ConfigError(format!("{setting}: this version knows only the memory store; {remedy}")))
    }
}
